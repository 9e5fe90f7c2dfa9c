/** States near a state: those it was reached from, and those whose screens are like its own. */

import type { StatePage } from "../../api/types";
import { count, decimal, plural } from "../../format";
import { StateCard } from "../../parts/StateCard";
import { Empty, Show } from "../../parts/states";
import { href } from "../../router";
import { useAnswer } from "../../viewer";

const MOST = 12;
const ALIKE = 6;

export function Incoming({ page }: { page: StatePage }) {
  const shown = page.incoming.slice(0, MOST);
  return (
    <section aria-labelledby="incoming-heading">
      <h2 id="incoming-heading">Reached from {plural(page.incoming.length, "state")}</h2>
      {shown.length === 0 ? (
        <Empty title="No action led here: episodes began here." />
      ) : (
        <ul class="cards">
          {shown.map((each) => (
            <li key={each.state}>
              <StateCard
                run={page.run}
                state={each.state}
                title={each.title}
                to={href("edge", [page.run, each.state, page.state.id])}
                note={`×${count(each.count)} by ${plural(each.actions, "action")}`}
              />
            </li>
          ))}
        </ul>
      )}
      {page.incoming.length > MOST && <p class="muted">and {count(page.incoming.length - MOST)} more states</p>}
    </section>
  );
}

/** The first few screens like this one, with the way to the others. */
export function Similar({ run, state }: { run: string; state: number }) {
  const answer = useAnswer(`similar ${run} ${state}`, (source, signal) => source.similar(run, state, ALIKE, signal));
  return (
    <section aria-labelledby="similar-heading">
      <h2 id="similar-heading">
        <a href={href("similar", [run, state])}>Screens like this one</a>
      </h2>
      <Show answer={answer} what="Looking for screens like this one">
        {({ hits }) =>
          hits.length === 0 ? (
            <Empty title="There is none." />
          ) : (
            <ul class="cards">
              {hits.map((hit) => (
                <li key={`${hit.run} ${hit.state.id}`}>
                  <StateCard
                    run={hit.run}
                    state={hit.state.id}
                    title={hit.state.title}
                    picture={hit.state.thumbnail !== null}
                    note={`${hit.run === run ? "" : `${hit.run} · `}u ${decimal(hit.state.ambiguity)} · ${plural(hit.state.visits, "visit")}`}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Show>
    </section>
  );
}
