/** The times that a state was seen, and why each was taken for it. */

import { count, decimal } from "../../format";
import { Paging } from "../../parts/Paging";
import { Said } from "../../parts/Said";
import { Empty, Show } from "../../parts/states";
import { Scrolled } from "../../parts/tables";
import { ViewerLink } from "../../parts/ViewerLink";
import { href } from "../../router";
import { useAnswer, useViewer } from "../../viewer";

const SIZE = 20;

const HOW: Record<string, string> = {
  new: "founded the state",
  match: "joined by its score",
  memo: "these atoms were decided before",
  elsewhere: "decided in another place",
};

export interface ObservedProps {
  run: string;
  state: number;
  offset: number;
  /** How many there are, to ask again when there are more. */
  known: number;
  onMove: (offset: number) => void;
}

export function Observed({ run, state, offset, known, onMove }: ObservedProps) {
  const { source } = useViewer();
  const answer = useAnswer(
    `observations ${run} ${state} ${offset} ${known}`,
    (from, signal) => from.observations(run, state, { offset, limit: SIZE }, signal),
    { keep: true },
  );
  return (
    <section aria-labelledby="observations-heading">
      <h2 id="observations-heading">Observations</h2>
      <Show answer={answer} what="Reading observations">
        {(page, stale) =>
          page.total === 0 ? (
            <Empty title="It was never seen." />
          ) : (
            <div aria-busy={stale}>
              <Scrolled label="Observations of this state">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">entry</th>
                      <th scope="col">episode, step</th>
                      <th scope="col">how</th>
                      <th scope="col" class="number">score</th>
                      <th scope="col" class="number">roles</th>
                      <th scope="col" class="number">texts</th>
                      <th scope="col">runner-up</th>
                      <th scope="col">picture</th>
                      {!source.embedded && <th scope="col">why</th>}
                    </tr>
                  </thead>
                  <tbody>
                    {page.observations.map((each) => (
                      <tr key={each.sequence}>
                        <th scope="row">@{each.sequence}</th>
                        <td>
                          <Said text={each.episode} longest={40} />, {count(each.step)}
                        </td>
                        <td title={HOW[each.how]}>{each.how}</td>
                        <td class="number">{decimal(each.score)}</td>
                        <td class="number">{decimal(each.role_jaccard)}</td>
                        <td class="number">{decimal(each.text_jaccard)}</td>
                        <td>
                          {each.runner_up === null ? (
                            "–"
                          ) : (
                            <ViewerLink
                              to={href("explain", [run, each.runner_up, `@${each.sequence}`])}
                              otherwise={`${each.runner_up} (${decimal(each.runner_up_score ?? 0)})`}
                            >
                              {each.runner_up} ({decimal(each.runner_up_score ?? 0)})
                            </ViewerLink>
                          )}
                        </td>
                        <td>
                          {each.picture === null ? (
                            <span class="muted">none</span>
                          ) : (
                            <a href={source.picture(each.picture)} target="_blank" rel="noopener noreferrer">
                              <img
                                class="tiny"
                                src={source.picture(each.picture)}
                                alt={`Screen of entry ${each.sequence}`}
                                loading="lazy"
                                decoding="async"
                              />
                            </a>
                          )}
                        </td>
                        {!source.embedded && (
                          <td>
                            <a href={href("explain", [run, `@${each.sequence}`])} aria-label={`Explain entry ${each.sequence}`}>
                              Explain
                            </a>
                          </td>
                        )}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </Scrolled>
              <Paging
                label="Pages of observations"
                offset={page.offset}
                size={SIZE}
                total={page.total}
                listed={page.observations.length}
                onMove={onMove}
              />
            </div>
          )
        }
      </Show>
    </section>
  );
}
