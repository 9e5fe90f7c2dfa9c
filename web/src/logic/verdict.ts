/** A comparison of two screens in a sentence and in a formula. */

import type { Explanation, Pool } from "../api/types";
import { decimal, plural, worded } from "../format";

/** Whether they are one state, and what decides it. A filter decides before any score. */
export function verdictWords(explanation: Explanation): string {
  const { one_state, score, threshold, differing_filters, identifier, decision, first } = explanation;
  if (decision?.how === "new" && first.name === String(decision.state)) {
    return "The first of its kind: there was no state to compare it with, so it is shown beside itself";
  }
  if (differing_filters.length > 0) {
    return `Two states: they differ in ${listed(differing_filters)}, which keeps screens apart whatever their score`;
  }
  if (one_state) return score >= threshold ? "One state: the score reaches the threshold" : "One state";
  return score >= threshold
    ? `Two states, though the score reaches the threshold: the identifier ${identifier} decides otherwise`
    : "Two states: the score stays below the threshold";
}

/** Equation 3 with its numbers. */
export function scoreWords(explanation: Explanation): string {
  const { role_weight, role_jaccard, text_weight, text_jaccard, score, threshold } = explanation;
  const sign = score >= threshold ? "≥" : "<";
  return (
    `${role_weight} · J(roles) + ${text_weight} · J(texts) = ` +
    `${role_weight} · ${decimal(role_jaccard)} + ${text_weight} · ${decimal(text_jaccard)} = ` +
    `${decimal(score, 4)} ${sign} ${threshold}`
  );
}

/** Which of the states that there were a screen was compared with, and why not with the others. */
export function poolWords({ known, compared, filters }: Pool): string {
  if (known === 0) return "No state was known before it.";
  const others = `of another ${listed(filters, "or")}`;
  if (compared === 0 && known === 1) return `Not compared with the one state known then: that is ${others}.`;
  if (compared === 0) return `Compared with none of the ${plural(known, "state")} known then: they are ${others}.`;
  if (compared === known) return `Compared with ${known === 1 ? "the one state" : `all ${plural(known, "state")}`} known then.`;
  return `Compared with ${compared.toLocaleString("en")} of the ${plural(known, "state")} known then; the others are ${others}.`;
}

/** window; window and text size; mode, window and text size. */
function listed(names: readonly string[], last = "and"): string {
  const words = names.map(worded);
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1) ?? ""}`;
}
