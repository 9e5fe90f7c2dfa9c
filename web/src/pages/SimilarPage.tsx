/** Screens like one. */

import { plural } from "../format";
import { Results } from "../parts/Results";
import { Thumbnail } from "../parts/Picture";
import { Empty, Show } from "../parts/states";
import { useTitle } from "../parts/title";
import { href, type Route } from "../router";
import { useAnswer, useViewer } from "../viewer";

const MOST = 40;

export function SimilarPage({ route }: { route: Route }) {
  const { runs } = useViewer();
  const [run = "", number = ""] = route.parts;
  const state = Number(number);
  useTitle(`Like state ${number}`, run);
  const answer = useAnswer(`similar ${run} ${number}`, (source, signal) => source.similar(run, state, MOST, signal));
  return (
    <article class="sheet">
      <header class="sheet-head like">
        <a class="like-picture" href={href("state", [run, state])}>
          <Thumbnail run={run} state={state} alt={`State ${state}`} />
        </a>
        <h1>
          Screens like <a href={href("state", [run, state])}>state {number}</a>
        </h1>
      </header>
      <Show answer={answer} what="Looking for screens like it">
        {({ hits }) =>
          hits.length === 0 ? (
            <Empty title="There is none like it." />
          ) : (
            <>
              <p class="muted">{plural(hits.length, "screen")}, the nearest first</p>
              <Results
                hits={hits}
                query=""
                several={runs.length > 1}
                beside={(hit) =>
                  hit.run === run ? { to: href("explain", [run, state, hit.state.id]), words: "what differs" } : null
                }
              />
            </>
          )
        }
      </Show>
    </article>
  );
}
