/** An edge: two states, the actions that led from one to the other, and every time that they did. */

import type { EdgePage as Edge, TransitionInfo } from "../api/types";
import { count, decimal, duration, plural } from "../format";
import { Paging } from "../parts/Paging";
import { Said } from "../parts/Said";
import { Share } from "../parts/Share";
import { StateCard } from "../parts/StateCard";
import { Empty, Show } from "../parts/states";
import { Facts, Scrolled } from "../parts/tables";
import { useTitle } from "../parts/title";
import { Entry, ViewerLink } from "../parts/ViewerLink";
import { amended, href, navigate, type Query, type Route } from "../router";
import { useAnswer } from "../viewer";
import { BeforeAfter, WAYS, type Way } from "./edge/BeforeAfter";

const SIZE = 20;

export function EdgePage({ route }: { route: Route }) {
  const [run = "", source = "", target = ""] = route.parts;
  useTitle(`Edge ${source} → ${target}`, run);
  const signature = route.query.get("signature");
  const offset = Number(route.query.get("offset") ?? 0) || 0;
  const answer = useAnswer(
    `edge ${route.parts.join("/")} ${signature ?? ""} ${offset}`,
    (from, signal) => from.edge(run, Number(source), Number(target), { signature, offset, limit: SIZE }, signal),
    { keep: true },
  );
  return (
    <>
      {answer.status !== "ready" && (
        <h1 class="unseen">
          Edge {source} → {target}
        </h1>
      )}
      <Show answer={answer} what="Reading the edge">
        {(edge, stale) => <Page edge={edge} stale={stale} route={route} />}
      </Show>
    </>
  );
}

function Page({ edge, stale, route }: { edge: Edge; stale: boolean; route: Route }) {
  const amend = (changes: Query) => navigate(amended(route, changes), { replace: true });
  const entry = Number(route.query.get("entry"));
  const chosen = edge.transitions.find((each) => each.sequence === entry) ?? edge.transitions[0];
  const way = WAYS.find((each) => each.key === route.query.get("way"))?.key ?? "beside";
  const { run, source, target } = edge;
  return (
    <article class="sheet" aria-busy={stale}>
      <header class="sheet-head">
        <h1>
          Edge {source.id} → {target.id}
        </h1>
        <div class="edge-ends">
          <StateCard run={run} state={source.id} title={source.title} picture={source.thumbnail !== null} note={source.window} />
          <span class="edge-arrow" aria-hidden="true">→</span>
          <StateCard run={run} state={target.id} title={target.title} picture={target.thumbnail !== null} note={target.window} />
          <nav class="ways" aria-label="From this edge">
            <a href={href("map", [run], { state: source.id })}>On the map</a>
            <ViewerLink to={href("explain", [run, source.id, target.id])}>Why these are two states</ViewerLink>
          </nav>
        </div>
      </header>

      <section aria-labelledby="between-heading">
        <h2 id="between-heading">{plural(edge.actions.length, "action")} between them</h2>
        <ul class="edge-actions">
          {edge.actions.length > 1 && (
            <li>
              <button
                type="button"
                aria-pressed={signature(edge) === null}
                onClick={() => amend({ signature: null, offset: null, entry: null })}
              >
                all
              </button>
            </li>
          )}
          {edge.actions.map((action) => (
            <li key={action.signature}>
              <button
                type="button"
                aria-pressed={action.signature === signature(edge)}
                onClick={() => amend({ signature: action.signature, offset: null, entry: null })}
              >
                <Said text={action.words} longest={80} />
              </button>
              <Share value={action.share} />
              <span class="muted">
                {count(action.count)} of {count(action.visits)} times
              </span>
            </li>
          ))}
        </ul>
      </section>

      {chosen === undefined ? (
        <Empty title="This did not happen in this run, or not by that action." />
      ) : (
        <section aria-labelledby="chosen-heading">
          <h2 id="chosen-heading">
            @{chosen.sequence}: <Said text={chosen.words} />
          </h2>
          <BeforeAfter transition={chosen} way={way} onWay={(key: Way) => amend({ way: key })} />
          <ChoiceFigures transition={chosen} run={run} />
        </section>
      )}

      <section aria-labelledby="transitions-heading">
        <h2 id="transitions-heading">{plural(edge.total, "transition")} behind it</h2>
        {edge.transitions.length > 0 && (
          <Scrolled label="Transitions">
            <table>
              <thead>
                <tr>
                  <th scope="col">entry</th>
                  <th scope="col">episode, step</th>
                  <th scope="col">action</th>
                  <th scope="col">outcome</th>
                  <th scope="col" class="number">P</th>
                  <th scope="col" class="number">Q</th>
                  <th scope="col" class="number">N</th>
                  <th scope="col" class="number">score</th>
                  <th scope="col" class="number">reward</th>
                  <th scope="col" class="number">acted in</th>
                </tr>
              </thead>
              <tbody>
                {edge.transitions.map((each) => (
                  <tr key={each.sequence} class={each === chosen ? "chosen" : undefined}>
                    <th scope="row">
                      <button
                        type="button"
                        class="as-link"
                        aria-pressed={each === chosen}
                        aria-label={`Show entry ${each.sequence}`}
                        onClick={() => amend({ entry: each.sequence })}
                      >
                        @{each.sequence}
                      </button>
                    </th>
                    <td>
                      <Said text={each.episode} longest={40} />, {count(each.step)}
                    </td>
                    <td>
                      <Said text={each.words} longest={80} />
                    </td>
                    <td>
                      {each.outcome} {each.new_state && <span class="badge badge-good">new state</span>}
                      {each.new_edge && !each.new_state && <span class="badge">new edge</span>}
                    </td>
                    <td class="number">{some(each.prior)}</td>
                    <td class="number">{some(each.value)}</td>
                    <td class="number">{each.visits ?? "–"}</td>
                    <td class="number">{some(each.score)}</td>
                    <td class="number">{some(each.reward)}</td>
                    <td class="number">{duration(each.act_seconds)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scrolled>
        )}
        <Paging
          label="Pages of transitions"
          offset={edge.offset}
          size={SIZE}
          total={edge.total}
          listed={edge.transitions.length}
          onMove={(to) => amend({ offset: to, entry: null })}
        />
      </section>
    </article>
  );
}

function ChoiceFigures({ transition, run }: { transition: TransitionInfo; run: string }) {
  const each = transition;
  return (
    <>
      <Facts
        facts={[
          ["chosen from", each.candidates === null ? "–" : plural(each.candidates, "candidate")],
          ["prior P", some(each.prior)],
          ["value Q", some(each.value)],
          ["visits N", each.visits === null ? "–" : count(each.visits)],
          ["score", some(each.score)],
          ["reward", some(each.reward)],
          ["decided in", duration(each.decide_seconds)],
          ["acted in", duration(each.act_seconds)],
          ["entry, and why there", <Entry run={run} sequence={each.sequence} />],
        ]}
      />
      <p class="muted">
        <code>
          <Said text={each.signature} longest={300} />
        </code>
      </p>
      {each.note && (
        <p class="note">
          <Said text={each.note} longest={600} />
        </p>
      )}
    </>
  );
}

function signature(edge: Edge): string | null {
  return edge.signature ?? (edge.actions.length === 1 ? (edge.actions[0]?.signature ?? null) : null);
}

function some(value: number | null): string {
  return value === null ? "–" : decimal(value);
}
