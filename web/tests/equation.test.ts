// @vitest-environment node
import { expect, test } from "vitest";
import type { AmbiguityInfo } from "../src/api/types";
import { ambiguityLines, ambiguitySentence, dispersionLine } from "../src/logic/equation";

const term = (signature: string, visits: number, weight: number, entropy: number) => ({
  signature,
  words: signature,
  visits,
  weight,
  entropy,
});

const ambiguity: AmbiguityInfo = {
  value: 0.8005,
  trials: 34,
  dispersion: 0.9772,
  kappa: 20,
  prior: 0.5,
  terms: [term("a", 19, 0.5588, 0.9819), term("b", 15, 0.4412, 0.971)],
};

test("the numbers in the equation give its value", () => {
  const last = ambiguityLines(ambiguity).at(-1)!;
  const [trust, dispersion, rest, prior] = last.parts[1]!.match(/[\d.]+/gu)!.map(Number);
  expect(trust! * dispersion! + rest! * prior!).toBeCloseTo(Number(last.parts[2]), 2);
  expect(last.parts[2]).toBe("0.800");
});

test("the dispersion is written as the sum of what each action adds", () => {
  expect(dispersionLine(ambiguity).parts).toEqual(["Σ w · H̄", "0.559 · 0.982 + 0.441 · 0.971", "0.977"]);
});

test("actions that lead to one place are left out of the sum, and many end in dots", () => {
  const terms = [...Array.from({ length: 5 }, (_, place) => term(`t${place}`, 2, 0.1, 1)), term("sure", 9, 0.5, 0)];
  const sum = dispersionLine({ ...ambiguity, terms }).parts[1]!;
  expect(sum.split(" + ")).toHaveLength(5);
  expect(sum.endsWith("…")).toBe(true);
});

test("a state without trials has the prior and says so", () => {
  const untried = { ...ambiguity, trials: 0, dispersion: 0, value: 0.5, terms: [] };
  expect(ambiguityLines(untried)).toEqual([{ left: "u(s)", parts: ["u₀", "0.500"] }]);
  expect(ambiguitySentence(untried)).toContain("Nothing was tried");
});

test("the sentence says whether the evidence outweighs the prior", () => {
  expect(ambiguitySentence(ambiguity)).toBe(
    "34 executions, enough to outweigh what is assumed of any state; 2 actions led to different places.",
  );
  expect(ambiguitySentence({ ...ambiguity, trials: 1, terms: [] })).toContain("One execution, too few");
});
