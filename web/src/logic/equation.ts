/** How u(s) came about, with the numbers filled in. */

import type { AmbiguityInfo } from "../api/types";
import { count, decimal } from "../format";

export interface Line {
  /** What is computed, in the paper's letters. */
  left: string;
  /** The formula, then the formula with its numbers, then its value. */
  parts: string[];
}

/** Equation 2 as lines: ρ from the number of trials, then u from ρ, D and u₀. */
export function ambiguityLines(ambiguity: AmbiguityInfo): Line[] {
  const { trials, kappa, dispersion, prior, value } = ambiguity;
  if (trials === 0) {
    return [{ left: "u(s)", parts: ["u₀", decimal(prior)] }];
  }
  const trust = trials / (trials + kappa);
  const rest = 1 - trust;
  return [
    {
      left: "ρ(s)",
      parts: ["n / (n + κ)", `${count(trials)} / (${count(trials)} + ${plain(kappa)})`, decimal(trust)],
    },
    {
      left: "u(s)",
      parts: [
        "ρ · D + (1 − ρ) · u₀",
        `${decimal(trust)} · ${decimal(dispersion)} + ${decimal(rest)} · ${plain(prior)}`,
        decimal(value),
      ],
    },
  ];
}

/** Equation 1: D(s) as the sum of what each ambiguous action adds, the first few of them. */
export function dispersionLine(ambiguity: AmbiguityInfo, most = 4): Line {
  const adding = ambiguity.terms.filter((term) => term.entropy > 0);
  const sum = adding.slice(0, most).map((term) => `${decimal(term.weight)} · ${decimal(term.entropy)}`);
  if (adding.length > most) sum.push("…");
  return {
    left: "D(s)",
    parts: ["Σ w · H̄", ...(sum.length ? [sum.join(" + ")] : []), decimal(ambiguity.dispersion)],
  };
}

/** In a sentence, for those who do not read formulas. */
export function ambiguitySentence(ambiguity: AmbiguityInfo): string {
  if (ambiguity.trials === 0) return "Nothing was tried here yet: u(s) is what is assumed of any state.";
  const adding = ambiguity.terms.filter((term) => term.entropy > 0).length;
  const tried = ambiguity.trials === 1 ? "One execution" : `${count(ambiguity.trials)} executions`;
  const outcome =
    adding === 0
      ? "every action led to one place only"
      : adding === 1
        ? "one action led to different places"
        : `${count(adding)} actions led to different places`;
  const weighs =
    ambiguity.trials < ambiguity.kappa
      ? "too few to outweigh what is assumed of any state"
      : "enough to outweigh what is assumed of any state";
  return `${tried}, ${weighs}; ${outcome}.`;
}

function plain(value: number): string {
  return String(Number(value.toFixed(3)));
}
