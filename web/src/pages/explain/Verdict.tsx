/** The score of two screens against the threshold. */

import type { Explanation } from "../../api/types";
import { decimal } from "../../format";
import { scoreWords, verdictWords } from "../../logic/verdict";

export function Verdict({ explanation }: { explanation: Explanation }) {
  const { score, threshold, role_weight, text_weight, role_jaccard, text_jaccard } = explanation;
  const parts = [
    { name: "roles", value: role_weight * role_jaccard },
    { name: "texts", value: text_weight * text_jaccard },
  ];
  return (
    <section class="card verdict" aria-labelledby="verdict-heading">
      <h2 id="verdict-heading" class={explanation.one_state ? "good" : "bad"}>
        {verdictWords(explanation)}
      </h2>
      <p class="equation">{scoreWords(explanation)}</p>
      <div
        class="score"
        role="img"
        aria-label={`Score ${decimal(score)}: roles ${decimal(parts[0]!.value)}, texts ${decimal(parts[1]!.value)}; threshold ${threshold}`}
      >
        {parts.map((part) => (
          <span key={part.name} class={`score-part score-${part.name}`} style={{ width: `${part.value * 100}%` }}>
            {part.value > 0.12 && `${part.name} ${decimal(part.value)}`}
          </span>
        ))}
        <span class="score-threshold" style={{ left: `${threshold * 100}%` }} />
      </div>
      <p class="score-scale muted small">
        <span>0</span>
        <span style={{ left: `${threshold * 100}%` }}>τ = {threshold}</span>
      </p>
    </section>
  );
}
