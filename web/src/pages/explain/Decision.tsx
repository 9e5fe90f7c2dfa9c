/** How a screen was decided when it was seen, and what else it could have been. */

import type { Explanation } from "../../api/types";
import { decimal } from "../../format";
import { poolWords } from "../../logic/verdict";
import { StateCard } from "../../parts/StateCard";
import { Scrolled } from "../../parts/tables";
import { href } from "../../router";

const HOW: Record<string, string> = {
  new: "It founded the state: no state known then reached the threshold.",
  match: "It joined the state: its score with the founding screen reached the threshold, and no other’s was better.",
  memo: "Exactly these atoms had been decided before: it got the same state without a search.",
  elsewhere: "It was decided in another place of a cluster.",
};

export function Decision({ explanation }: { explanation: Explanation }) {
  const { run, decision, considered, pool, second } = explanation;
  if (decision === null && considered.length === 0) return null;
  return (
    <section aria-labelledby="decision-heading">
      <h2 id="decision-heading">How {second.name} was decided</h2>
      {decision && (
        <p>
          It became <a href={href("state", [run, decision.state])}>state {decision.state}</a>, by “{decision.how}”
          {decision.how === "new" ? "" : ` with a score of ${decimal(decision.score, 4)}`}. {HOW[decision.how] ?? ""}
          {decision.runner_up !== null && (
            <>
              {" "}
              The runner-up was{" "}
              <a href={href("explain", [run, decision.runner_up, second.name])}>state {decision.runner_up}</a> with{" "}
              {decimal(decision.runner_up_score ?? 0, 4)}.
            </>
          )}
        </p>
      )}
      {considered.length === 0 && pool && <p>{poolWords(pool)}</p>}
      {considered.length > 0 && (
        <Scrolled label="States that were considered">
          <table>
            <caption>{pool ? poolWords(pool) : "States known when it was decided"} The best first.</caption>
            <thead>
              <tr>
                <th scope="col">state</th>
                <th scope="col" class="number">score</th>
                <th scope="col" class="number">J(roles)</th>
                <th scope="col" class="number">J(texts)</th>
                <th scope="col">reaches τ</th>
                <th scope="col">compare</th>
              </tr>
            </thead>
            <tbody>
              {considered.map((each) => (
                <tr key={each.state}>
                  <th scope="row">
                    <StateCard small run={run} state={each.state} title={each.title} />
                  </th>
                  <td class="number">{decimal(each.score, 4)}</td>
                  <td class="number">{decimal(each.role_jaccard)}</td>
                  <td class="number">{decimal(each.text_jaccard)}</td>
                  <td>{each.passes ? <span class="badge badge-good">yes</span> : "no"}</td>
                  <td>
                    <a
                      href={href("explain", [run, each.state, second.name])}
                      aria-label={`Compare state ${each.state} with ${second.name}`}
                    >
                      compare
                    </a>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolled>
      )}
    </section>
  );
}
