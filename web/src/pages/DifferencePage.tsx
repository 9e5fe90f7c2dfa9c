/** Two runs compared: what changed by the evidence of both, then what only one of them happened to see. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ChangedAction, Difference, EdgeChange, Successor } from "../api/types";
import { count, line, plural, share } from "../format";
import { byEvidence, verdictOf, type Seen } from "../logic/evidence";
import { commandLine } from "../logic/shell";
import { Command } from "../parts/Command";
import { Said } from "../parts/Said";
import { Share } from "../parts/Share";
import { StateCard } from "../parts/StateCard";
import { Empty, Show } from "../parts/states";
import { Facts, Scrolled } from "../parts/tables";
import { useTitle } from "../parts/title";
import { href, navigate, type Route } from "../router";
import { useAnswer, useViewer } from "../viewer";

const FIRST = 24;

export function DifferencePage({ route }: { route: Route }) {
  const { runs } = useViewer();
  const [first = "", second = ""] = route.parts;
  useTitle("Compare", first, second);
  const answer = useAnswer(first && second ? `difference ${first} ${second}` : null, (source, signal) =>
    source.difference(first, second, signal),
  );
  const pick = (label: string, value: string, go: (run: string) => string) => (
    <select aria-label={label} value={value} onChange={(event) => navigate(go(event.currentTarget.value))}>
      {value === "" && <option value="">choose…</option>}
      {runs.map((run) => (
        <option key={run.run} value={run.run}>
          {run.run}
        </option>
      ))}
    </select>
  );
  return (
    <article class="sheet">
      <header class="sheet-head section-head">
        <h1>Compare</h1>
        <div class="row">
          {pick("First run, before", first, (run) => href("difference", [run, second]))}
          <span>with</span>
          {pick("Second run, after", second, (run) => href("difference", [first || (runs[0]?.run ?? ""), run]))}
          {first && second && (
            <a class="button" href={href("difference", [second, first])}>
              Swap
            </a>
          )}
        </div>
      </header>
      {first && second ? (
        <Show answer={answer} what="Matching the states of both runs">
          {(difference) => <Compared difference={difference} />}
        </Show>
      ) : (
        <Empty title="Which two runs?">
          <p>Open several runs with one command: screensearch view RUN RUN</p>
        </Empty>
      )}
    </article>
  );
}

function Compared({ difference }: { difference: Difference }) {
  const { runs } = useViewer();
  const path = (run: string) => runs.find((each) => each.run === run)?.path ?? run;
  const { first, second } = difference;
  const { gone, fresh, unseen } = byEvidence(difference);
  const only = unseen.first.states.length + unseen.second.states.length + unseen.first.edges.length + unseen.second.edges.length;
  return (
    <>
      <p><strong>{verdictOf(difference)}</strong></p>
      <Facts
        facts={[
          ["states in both", count(difference.matched)],
          ["states gone", count(gone.states.length)],
          ["states new", count(fresh.states.length)],
          ["edges gone", count(gone.edges.length)],
          ["edges new", count(fresh.edges.length)],
          ["actions with other outcomes", `${count(difference.changed.length)} of ${count(difference.comparable)} comparable`],
        ]}
      />
      <Command about="The same in a terminal" line={commandLine("diff", path(first), path(second))} />
      {difference.note && (
        <details>
          <summary>How this is told</summary>
          <p class="muted">{difference.note}</p>
        </details>
      )}
      <Changed difference={difference} />
      <States title={`Gone: no longer in ${second}`} run={first} other={second} states={gone.states} />
      <States title={`New in ${second}`} run={second} other={first} states={fresh.states} />
      <Edges title={`Edges gone: no longer in ${second}`} run={first} other={second} edges={gone.edges} />
      <Edges title={`Edges new in ${second}`} run={second} other={first} edges={fresh.edges} />
      {only > 0 && (
        <section aria-labelledby="unseen-heading">
          <h2 id="unseen-heading">Seen by one run only</h2>
          <p class="muted">
            No evidence of a change: an exploration sees what it happens to do, and the other run did not do, or not
            often enough, what leads here.
          </p>
          <States title={`Only ${first} saw`} run={first} other={second} states={unseen.first.states} within />
          <States title={`Only ${second} saw`} run={second} other={first} states={unseen.second.states} within />
          <Edges title={`Edges only ${first} saw`} run={first} other={second} edges={unseen.first.edges} within />
          <Edges title={`Edges only ${second} saw`} run={second} other={first} edges={unseen.second.edges} within />
        </section>
      )}
    </>
  );
}

interface StatesProps {
  title: string;
  run: string;
  other: string;
  states: readonly Seen[];
  /** Below a heading of its own. */
  within?: boolean;
}

function States({ title, run, other, states, within = false }: StatesProps) {
  const [all, setAll] = useState(false);
  if (states.length === 0) return null;
  return (
    <section>
      <Heading within={within}>
        {title} <span class="muted">{plural(states.length, "state")}</span>
      </Heading>
      <ul class="cards">
        {states.slice(0, all ? states.length : FIRST).map(({ state, tried }) => (
          <li key={state.id}>
            <StateCard
              run={run}
              state={state.id}
              title={state.title}
              picture={state.thumbnail !== null}
              note={
                <>
                  {line(state.window, 40)}
                  <br />
                  {tried ? `${other} tried the way ×${count(tried)}` : `${other} never tried the way`}
                </>
              }
            />
          </li>
        ))}
      </ul>
      <More all={all} total={states.length} onAll={() => setAll(true)} />
    </section>
  );
}

function Heading({ within, children }: { within: boolean; children: ComponentChildren }) {
  return within ? <h3>{children}</h3> : <h2>{children}</h2>;
}

interface EdgesProps {
  title: string;
  run: string;
  other: string;
  edges: readonly EdgeChange[];
  within?: boolean;
}

function Edges({ title, run, other, edges, within = false }: EdgesProps) {
  const [all, setAll] = useState(false);
  if (edges.length === 0) return null;
  return (
    <section>
      <Heading within={within}>
        {title} <span class="muted">{plural(edges.length, "edge")}</span>
      </Heading>
      <Scrolled label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">from</th>
              <th scope="col">action</th>
              <th scope="col">to</th>
              <th scope="col" class="number">times</th>
              <th scope="col" class="number">tried in {other}</th>
            </tr>
          </thead>
          <tbody>
            {edges.slice(0, all ? edges.length : FIRST).map((edge) => (
              <tr key={`${edge.source} ${edge.signature} ${edge.target}`}>
                <td>
                  <StateCard small run={run} state={edge.source} title={edge.source_title} />
                </td>
                <td>
                  <a href={href("edge", [run, edge.source, edge.target], { signature: edge.signature })}>
                    <Said text={edge.words} />
                  </a>
                </td>
                <td>
                  <StateCard small run={run} state={edge.target} title={edge.target_title} />
                </td>
                <td class="number">{count(edge.count)}</td>
                <td class="number">{edge.tried ? count(edge.tried) : "never"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
      <More all={all} total={edges.length} onAll={() => setAll(true)} />
    </section>
  );
}

const WHY: Record<string, string> = {
  other: "leads elsewhere",
  fails: "fails in one of them",
};

function Changed({ difference }: { difference: Difference }) {
  const [all, setAll] = useState(false);
  const { changed, first, second } = difference;
  if (changed.length === 0) return null;
  return (
    <section aria-labelledby="changed-heading">
      <h2 id="changed-heading">
        The same action, other outcomes <span class="muted">{plural(changed.length, "action")}</span>
      </h2>
      <Scrolled label="Actions with other outcomes">
        <table>
          <thead>
            <tr>
              <th scope="col">at</th>
              <th scope="col">action</th>
              <th scope="col">in {first}</th>
              <th scope="col">in {second}</th>
            </tr>
          </thead>
          <tbody>
            {(all ? changed : changed.slice(0, FIRST)).map((each) => (
              <ChangedRow key={`${each.first_state} ${each.signature}`} action={each} first={first} second={second} />
            ))}
          </tbody>
        </table>
      </Scrolled>
      <More all={all} total={changed.length} onAll={() => setAll(true)} />
    </section>
  );
}

function ChangedRow({ action, first, second }: { action: ChangedAction; first: string; second: string }) {
  return (
    <tr>
      <th scope="row">
        <StateCard
          small
          run={first}
          state={action.first_state}
          title={action.title}
          note={action.first_state === action.second_state ? undefined : `there ${action.second_state}`}
        />
      </th>
      <td>
        <Said text={action.words} /> <span class="badge">{WHY[action.why] ?? action.why}</span>
      </td>
      <td>
        <Outcomes run={first} source={action.first_state} signature={action.signature} outcomes={action.first} />
      </td>
      <td>
        <Outcomes run={second} source={action.second_state} signature={action.signature} outcomes={action.second} />
      </td>
    </tr>
  );
}

interface OutcomesProps {
  run: string;
  source: number;
  signature: string;
  outcomes: readonly Successor[];
}

/** Where an action led; a place below 0 is a failure, called by its outcome. */
function Outcomes({ run, source, signature, outcomes }: OutcomesProps) {
  return (
    <ul class="successors">
      {outcomes.map((each, place) => (
        <li key={place}>
          {each.state < 0 ? (
            <span class="badge badge-bad">
              {line(each.title, 20)} ×{count(each.count)}
            </span>
          ) : (
            <StateCard
              small
              run={run}
              state={each.state}
              title={each.title}
              to={href("edge", [run, source, each.state], { signature })}
              note={<Share value={each.share} words={`${share(each.share)} · ×${count(each.count)}`} />}
            />
          )}
        </li>
      ))}
      {outcomes.length === 0 && <li class="muted">not tried</li>}
    </ul>
  );
}

function More({ all, total, onAll }: { all: boolean; total: number; onAll: () => void }) {
  if (all || total <= FIRST) return null;
  return (
    <p>
      <button type="button" onClick={onAll}>
        Show all {count(total)}
      </button>
    </p>
  );
}
