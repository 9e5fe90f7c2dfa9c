/** The actions whose outcomes differ most. */

import { count, decimal, share } from "../format";
import { useFollowing } from "../parts/following";
import { Said } from "../parts/Said";
import { Share } from "../parts/Share";
import { StateCard } from "../parts/StateCard";
import { Empty, Show } from "../parts/states";
import { useTitle } from "../parts/title";
import { ViewerLink } from "../parts/ViewerLink";
import { href, type Route } from "../router";

export function AmbiguousPage({ route }: { route: Route }) {
  const run = route.parts[0] ?? "";
  useTitle("Ambiguous", run);
  const answer = useFollowing(run, `ambiguous ${run}`, (source, signal) => source.ambiguities(run, signal));
  return (
    <article class="sheet">
      <h1>The same action, different outcomes</h1>
      <Show answer={answer} what="Looking for ambiguous actions">
        {({ actions }) =>
          actions.length === 0 ? (
            <Empty title="Every action that was tried more than once led to one place." />
          ) : (
            <ol class="ambiguous">
              {actions.map((action) => (
                <li key={`${action.state} ${action.signature}`} class="card">
                  <StateCard run={run} state={action.state} title={action.title} note="here" />
                  <div class="ambiguous-action">
                    <h2>
                      <Said text={action.words} />
                    </h2>
                    <p class="muted">
                      done {count(action.visits)} times · dispersion {decimal(action.dispersion)}
                    </p>
                    <code class="signature">
                      <Said text={action.signature} longest={120} />
                    </code>
                    {action.successors.length > 1 && (
                      <ViewerLink to={href("explain", [run, action.successors[0]!.state, action.successors[1]!.state])}>
                        Why {action.successors[0]!.state} and {action.successors[1]!.state} are two states
                      </ViewerLink>
                    )}
                  </div>
                  <ul class="cards">
                    {action.successors.slice(0, 6).map((each) => (
                      <li key={each.state}>
                        <StateCard
                          run={run}
                          state={each.state}
                          title={each.title}
                          to={href("edge", [run, action.state, each.state], { signature: action.signature })}
                          note={<Share value={each.share} words={`${share(each.share)} · ×${count(each.count)}`} />}
                        />
                      </li>
                    ))}
                    {action.successors.length > 6 && <li class="muted">and {count(action.successors.length - 6)} more</li>}
                  </ul>
                </li>
              ))}
            </ol>
          )
        }
      </Show>
    </article>
  );
}
