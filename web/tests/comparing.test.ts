// @vitest-environment node
import { expect, test } from "vitest";
import type { ElementInfo, Explanation } from "../src/api/types";
import { atomsOf, atomSets, screenName, split, standing } from "../src/logic/atoms";
import { poolWords, scoreWords, verdictWords } from "../src/logic/verdict";

const carrying = (role_atom: string | null, text_atom: string | null) => ({ role_atom, text_atom }) as ElementInfo;

const explanation = {
  first: { elements: [carrying("r1_c1|edit", "r1_c1|hello"), carrying("r2_c2|button", "r2_c2|save")] },
  second: { elements: [carrying("r1_c1|edit", "r1_c1|bye"), carrying("r2_c2|button", "r2_c2|save")] },
  one_state: false,
  score: 2 / 3,
  role_jaccard: 1,
  text_jaccard: 1 / 3,
  threshold: 0.93,
  role_weight: 0.5,
  text_weight: 0.5,
  identifier: "exact",
  differing_filters: [] as string[],
  shared: ["r1_c1|edit", "r2_c2|button", "r2_c2|save"],
  only_first: ["r1_c1|hello"],
  only_second: ["r1_c1|bye"],
} as unknown as Explanation;

test("atoms that differ come first, each with its kind", () => {
  expect(atomsOf(explanation).map(({ what, kinds, side }) => [what, kinds.join(), side])).toEqual([
    ["hello", "text", "first"],
    ["bye", "text", "second"],
    ["edit", "role", "shared"],
    ["button", "role", "shared"],
    ["save", "text", "shared"],
  ]);
});

test("an atom is parted at its first bar, since a text may have more", () => {
  expect(split("r1_c2|a|b")).toEqual(["r1_c2", "a|b"]);
});

test("an element differs when the other screen lacks one of its atoms", () => {
  const other = atomSets(explanation.second.elements);
  expect(explanation.first.elements.map((each) => standing(each, other))).toEqual(["differs", "shared"]);
  expect(standing(carrying(null, null), other)).toBe("silent");
});

test("a text is not taken for a role of the same letters", () => {
  const other = atomSets([carrying(null, "r0_c0|button")]);
  expect(standing(carrying("r0_c0|button", null), other)).toBe("differs");
});

test("the formula shows weights, Jaccards, score and threshold", () => {
  expect(scoreWords(explanation)).toBe("0.5 · J(roles) + 0.5 · J(texts) = 0.5 · 1.000 + 0.5 · 0.333 = 0.6667 < 0.93");
});

test("the verdict names what decided", () => {
  expect(verdictWords(explanation)).toContain("below the threshold");
  expect(verdictWords({ ...explanation, one_state: true, score: 0.95 })).toContain("One state: the score reaches");
  expect(verdictWords({ ...explanation, score: 0.99, differing_filters: ["window", "text_size"] })).toBe(
    "Two states: they differ in window and text size, which keeps screens apart whatever their score",
  );
  expect(verdictWords({ ...explanation, score: 0.95, identifier: "identical" })).toContain("identical decides otherwise");
});

test("states and entries are named as on the command line", () => {
  expect(screenName(" 12 ")).toBe("12");
  expect(screenName("@345")).toBe("@345");
  for (const wrong of ["", "@", "x", "1/2", "-1", "12 13"]) expect(screenName(wrong)).toBeNull();
});

test("it is told which states a screen was compared with, and why not with the others", () => {
  const filters = ["display_mode", "window"];
  expect(poolWords({ known: 0, compared: 0, filters })).toBe("No state was known before it.");
  expect(poolWords({ known: 1, compared: 1, filters })).toBe("Compared with the one state known then.");
  expect(poolWords({ known: 1, compared: 0, filters })).toBe("Not compared with the one state known then: that is of another display mode or window.");
  expect(poolWords({ known: 8, compared: 8, filters })).toBe("Compared with all 8 states known then.");
  expect(poolWords({ known: 8, compared: 0, filters })).toContain("none of the 8 states known then: they are of another display mode or window");
  expect(poolWords({ known: 8, compared: 1, filters })).toContain("1 of the 8 states known then; the others are of another display mode or window");
});
