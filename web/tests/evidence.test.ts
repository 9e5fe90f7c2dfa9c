// @vitest-environment node
import { expect, test } from "vitest";
import type { Difference } from "../src/api/types";
import { byEvidence, verdictOf } from "../src/logic/evidence";

const nothing = {
  first: "before", second: "after", matched: 3, comparable: 1, changed: [],
  lost: [], lost_tried: [], lost_gone: [], gained: [], gained_tried: [], gained_new: [], lost_edges: [], gained_edges: [],
} as unknown as Difference;

const differing = {
  ...nothing,
  lost: [{ id: 4 }, { id: 5 }], lost_tried: [0, 9], lost_gone: [false, true],
  gained: [{ id: 7 }], gained_tried: [1], gained_new: [false],
  lost_edges: [{ source: 1, gone: false }, { source: 2, gone: true }],
} as unknown as Difference;

test("what is gone by evidence is apart from what was merely not seen", () => {
  const { gone, fresh, unseen } = byEvidence(differing);
  expect(gone.states.map(({ state, tried }) => [state.id, tried])).toEqual([[5, 9]]);
  expect(gone.edges.map((edge) => edge.source)).toEqual([2]);
  expect(fresh.states).toEqual([]);
  expect(unseen.first.states.map(({ state }) => state.id)).toEqual([4]);
  expect(unseen.first.edges.map((edge) => edge.source)).toEqual([1]);
  expect(unseen.second.states.map(({ state, tried }) => [state.id, tried])).toEqual([[7, 1]]);
});

test("the verdict counts only what there is evidence for", () => {
  expect(verdictOf(differing)).toBe("after differs from before: 1 state gone, 1 edge gone.");
  expect(verdictOf({ ...differing, lost_gone: [false, false], lost_edges: [] })).toContain("Nothing shows that after differs");
  expect(verdictOf(nothing)).toBe("The two runs saw the same.");
  expect(verdictOf({ ...differing, matched: 0, lost_gone: [false, false], lost_edges: [] })).toContain("Nothing was compared");
});
