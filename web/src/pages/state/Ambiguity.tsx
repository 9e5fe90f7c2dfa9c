/** u(s), and how it came about. */

import type { AmbiguityInfo } from "../../api/types";
import { count, decimal } from "../../format";
import { ambiguityLines, ambiguitySentence, dispersionLine } from "../../logic/equation";
import { Said } from "../../parts/Said";
import { showAction } from "./Actions";

const MOST = 6;

export function Ambiguity({ ambiguity }: { ambiguity: AmbiguityInfo }) {
  const lines = ambiguity.trials ? [dispersionLine(ambiguity), ...ambiguityLines(ambiguity)] : ambiguityLines(ambiguity);
  const adding = ambiguity.terms.filter((term) => term.entropy > 0);
  return (
    <section class="panel" aria-labelledby="ambiguity-heading">
      <h3 id="ambiguity-heading">Ambiguity u(s) = {decimal(ambiguity.value)}</h3>
      <p>{ambiguitySentence(ambiguity)}</p>
      <div class="equation">
        {lines.map(({ left, parts }) => (
          <p key={left}>
            <span class="equation-left">{left}</span>
            {parts.map((part, place) => (
              <span key={place} class={place === parts.length - 1 ? "equation-value" : "equation-part"}>
                = {part}
              </span>
            ))}
          </p>
        ))}
      </div>
      {adding.length > 0 && (
        <table class="compact">
          <caption>What each action adds to D(s)</caption>
          <thead>
            <tr>
              <th scope="col">action</th>
              <th scope="col" class="number">N</th>
              <th scope="col" class="number">w</th>
              <th scope="col" class="number">H̄</th>
              <th scope="col" class="number">w · H̄</th>
            </tr>
          </thead>
          <tbody>
            {adding.slice(0, MOST).map((term) => (
              <tr key={term.signature}>
                <th scope="row">
                  <button type="button" class="as-link" onClick={() => showAction(term.signature)}>
                    <Said text={term.words} longest={60} />
                  </button>
                </th>
                <td class="number">{count(term.visits)}</td>
                <td class="number">{decimal(term.weight)}</td>
                <td class="number">{decimal(term.entropy)}</td>
                <td class="number">{decimal(term.weight * term.entropy)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {adding.length > MOST && <p class="muted">and {adding.length - MOST} more, in the table of actions</p>}
    </section>
  );
}
