/** Pages whose address must have the numbers of states. */

import type { FunctionComponent } from "preact";
import { line } from "../format";
import { href, type Route } from "../router";
import { Empty } from "./states";

/** The page, if the so many parts after the run are numbers; else that there is no such state. */
export function numbered(Page: FunctionComponent<{ route: Route }>, many: number): FunctionComponent<{ route: Route }> {
  return function Numbered({ route }) {
    const wrong = Array.from({ length: many }, (_, place) => route.parts[place + 1] ?? "").find((part) => !/^\d+$/u.test(part));
    if (wrong === undefined) return <Page route={route} />;
    return (
      <>
        <h1 class="unseen">No such state</h1>
        <Empty title={`There is no state “${line(wrong, 40)}”`}>
          <p>States are numbered from 0.</p>
          <a href={href("states", route.parts.slice(0, 1))}>All states</a>
        </Empty>
      </>
    );
  };
}
