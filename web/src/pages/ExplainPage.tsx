/** Why two screens are, or are not, one state. */

import { useMemo, useState } from "preact/hooks";
import type { Explanation } from "../api/types";
import { line } from "../format";
import { atomsOf } from "../logic/atoms";
import { Choice } from "../parts/Choice";
import { Said } from "../parts/Said";
import { Empty, Show } from "../parts/states";
import { useTitle } from "../parts/title";
import { amended, navigate, type Route } from "../router";
import { useAnswer } from "../viewer";
import { AtomLists } from "./explain/AtomLists";
import { CompareForm } from "./explain/CompareForm";
import { Decision } from "./explain/Decision";
import { Side, VIEWS, type View } from "./explain/Side";
import { Verdict } from "./explain/Verdict";

export function ExplainPage({ route }: { route: Route }) {
  const [run = "", first = "", second = ""] = route.parts;
  useTitle(heading(first, second), run);
  const answer = useAnswer(first ? `explain ${route.parts.join("/")}` : null, (source, signal) =>
    source.explain(run, first, second || null, signal),
  );
  return (
    <article class="sheet">
      <header class="sheet-head section-head">
        <h1>{heading(first, second)}</h1>
        <CompareForm run={run} first={first} second={second} />
      </header>
      {first === "" ? (
        <Empty title="Which two screens?">
          <p>A state by its number, such as 12; an entry of the log with an @, such as @345.</p>
        </Empty>
      ) : (
        <Show answer={answer} what="Comparing">
          {(explanation) => <Explained explanation={explanation} route={route} />}
        </Show>
      )}
    </article>
  );
}

function Explained({ explanation, route }: { explanation: Explanation; route: Route }) {
  const { run, first, second } = explanation;
  const [atom, setAtom] = useState<string | null>(null);
  const atoms = useMemo(() => atomsOf(explanation), [explanation]);
  const view: View = VIEWS.find((each) => each.key === route.query.get("view"))?.key ?? "differs";
  return (
    <>
      <Verdict explanation={explanation} />
      <div class="section-head">
        <h2>The two screens</h2>
        <Choice
          label="Elements"
          value={view}
          options={VIEWS}
          onChoose={(key) => navigate(amended(route, { view: key }), { replace: true })}
        />
        <p class="explain-legend">
          <span class="swatch only-first" /> only in {first.name} <span class="swatch only-second" /> only in {second.name}{" "}
          <span class="swatch shared" /> shared
        </p>
      </div>
      <div class="pair">
        <Side side={first} other={second} which="first" view={view} atom={atom} onAtom={setAtom} run={run} />
        <Side side={second} other={first} which="second" view={view} atom={atom} onAtom={setAtom} run={run} />
      </div>
      {differs(explanation) && <Filters explanation={explanation} />}
      <AtomLists atoms={atoms} first={first.name} second={second.name} atom={atom} onAtom={setAtom} />
      <Decision explanation={explanation} />
    </>
  );
}

/** The metadata that the exact filters compare, where the two screens differ in it. */
function Filters({ explanation }: { explanation: Explanation }) {
  const { first, second, differing_filters } = explanation;
  const names = [...new Set([...Object.keys(first.metadata), ...Object.keys(second.metadata)])].filter(
    (name) => first.metadata[name] !== second.metadata[name],
  );
  return (
    <section aria-labelledby="filters-heading">
      <h2 id="filters-heading">What else differs</h2>
      <table class="compact">
        <thead>
          <tr>
            <th scope="col">field</th>
            <th scope="col">{first.name}</th>
            <th scope="col">{second.name}</th>
            <th scope="col">is a filter of this run</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{line(name, 40)}</th>
              <td><Said text={first.metadata[name] ?? ""} none="–" /></td>
              <td><Said text={second.metadata[name] ?? ""} none="–" /></td>
              <td>{differing_filters.includes(name) ? <strong>yes: never one state</strong> : "no"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function differs({ first, second }: Explanation): boolean {
  const names = [...Object.keys(first.metadata), ...Object.keys(second.metadata)];
  return names.some((name) => first.metadata[name] !== second.metadata[name]);
}

function heading(first: string, second: string) {
  if (first === "") return "Compare two screens";
  if (second === "") return `How ${called(first)} was decided`;
  return `${capital(called(first))} and ${called(second)}`;
}

function called(name: string): string {
  return name.startsWith("@") ? `entry ${name}` : `state ${name}`;
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
