/** A state: its screen, what was tried there and what came of it, and how often it was seen. */

import { useMemo } from "preact/hooks";
import type { StatePage as State } from "../api/types";
import { count, decimal, plural } from "../format";
import { drawn, SHOWN, type Shown } from "../logic/overlay";
import { Choice } from "../parts/Choice";
import { ElementDetails } from "../parts/ElementDetails";
import { useFollowing } from "../parts/following";
import { Said } from "../parts/Said";
import { Screen } from "../parts/Screen";
import { useSettled } from "../parts/settled";
import { Show } from "../parts/states";
import { Facts } from "../parts/tables";
import { useTitle } from "../parts/title";
import { Entry, ViewerLink } from "../parts/ViewerLink";
import { amended, href, navigate, type Query, type Route } from "../router";
import { useViewer } from "../viewer";
import { Actions, showAction } from "./state/Actions";
import { Ambiguity } from "./state/Ambiguity";
import { Incoming, Similar } from "./state/Neighbours";
import { Observed } from "./state/Observed";

export function StatePage({ route }: { route: Route }) {
  const [run = "", number = ""] = route.parts;
  const state = Number(number);
  useTitle(`State ${number}`, run);
  const answer = useFollowing(run, `state ${run} ${state}`, (source, signal) => source.state(run, state, signal));
  return (
    <>
      {answer.status !== "ready" && <h1 class="unseen">State {number}</h1>}
      <Show answer={answer} what={`Reading state ${state}`}>
        {(page, stale) => <Page page={page} stale={stale} route={route} />}
      </Show>
    </>
  );
}

function Page({ page, stale, route }: { page: State; stale: boolean; route: Route }) {
  const { runs, source } = useViewer();
  const amend = (changes: Query) => navigate(amended(route, changes), { replace: true });
  const { run } = page;
  const { id, title, picture } = page.state;

  const shown = (SHOWN.find((each) => each.key === route.query.get("show"))?.key ?? "actions") as Shown;
  const [active, setActive] = useSettled(route, "element", page.elements.length);
  const placed = useMemo(() => drawn(page.elements, shown), [page.elements, shown]);
  const words = useMemo(() => new Map(page.actions.map((each) => [each.signature, each.words])), [page.actions]);
  const states = runs.find((each) => each.run === run)?.states;

  const onOpen = (index: number) => {
    const signature = page.elements[index]?.signatures[0];
    if (signature !== undefined) showAction(signature);
  };

  return (
    <article class="sheet" aria-busy={stale}>
      <header class="sheet-head">
        <h1>
          State {id} <span class="sheet-title"><Said text={title} longest={100} /></span>
        </h1>
        <nav class="ways" aria-label="From this state">
          {id > 0 && <a href={href("state", [run, id - 1])} rel="prev">← {id - 1}</a>}
          {(states === undefined || id + 1 < states) && <a href={href("state", [run, id + 1])} rel="next">{id + 1} →</a>}
          <a href={href("map", [run], { state: id })}>On the map</a>
          <a href={href("path", [run, id])}>Path from the start</a>
          <ViewerLink to={href("similar", [run, id])}>Screens like this one</ViewerLink>
          <ViewerLink to={href("explain", [run, id])}>Compare with another</ViewerLink>
        </nav>
        <Facts
          facts={[
            ["window", <Said text={page.state.window} longest={60} none="–" />],
            ["mode", <>{page.state.display_mode}, text {page.state.text_size}</>],
            ["visits", count(page.state.visits)],
            ["ambiguity u(s)", decimal(page.state.ambiguity)],
            ["from a start", page.depth < 0 ? "no known way" : plural(page.depth, "action")],
            ["first seen", <Entry run={run} sequence={page.first_seen} />],
            ["seen", `${plural(page.observations, "time")} as ${plural(page.screens, "screen")}`],
          ]}
        />
      </header>

      <section class="screen-and-details" aria-labelledby="screen-heading">
        <div>
          <div class="section-head">
            <h2 id="screen-heading">Screen</h2>
            <Choice label="Elements" value={shown} options={SHOWN} onChoose={(key) => amend({ show: key, element: null })} />
          </div>
          <Screen
            alt={`Screenshot of state ${id}`}
            label={`Elements of state ${id}`}
            picture={picture}
            elements={page.elements}
            window={page.window_box}
            placed={placed}
            tone={(element) => (element.signatures.length ? "tried" : element.clickable ? "clickable" : "")}
            active={active}
            onActive={setActive}
            onOpen={onOpen}
          />
        </div>
        <aside aria-label="The element, and the ambiguity of the state">
          <section class="panel" aria-labelledby="element-heading">
            <h3 id="element-heading">Element</h3>
            <ElementDetails element={active === null ? null : page.elements[active]!} words={words} onAction={showAction} />
          </section>
          <Ambiguity ambiguity={page.ambiguity} />
        </aside>
      </section>

      <Actions page={page} />
      <Incoming page={page} />
      {!source.embedded && <Similar run={run} state={id} />}
      <Observed
        run={run}
        state={id}
        offset={Number(route.query.get("offset") ?? 0) || 0}
        known={page.observations}
        onMove={(offset) => amend({ offset })}
      />
    </article>
  );
}
