// @vitest-environment node
import { expect, test } from "vitest";
import type { ElementInfo, Rectangle } from "../src/api/types";
import { drawn, extent, readingOrder } from "../src/logic/overlay";
import { around } from "../src/parts/Screen";
import { placeIn } from "../src/parts/settled";

const element = (box: Rectangle, more: Partial<ElementInfo> = {}): ElementInfo => ({
  role: "button",
  text: "",
  value: "",
  box,
  clickable: false,
  editable: false,
  enabled: true,
  focused: false,
  checked: false,
  secret: false,
  role_atom: null,
  text_atom: null,
  signatures: [],
  ...more,
});

const window = element([0, 0, 800, 600]);
const save = element([10, 40, 80, 20], { clickable: true, signatures: ["click"], role_atom: "r1_c1|button" });
const open = element([100, 38, 80, 20], { clickable: true, text_atom: "r1_c4|open" });
const field = element([10, 200, 300, 20], { editable: true });
const nowhere = element([0, 0, 0, 0], { clickable: true });
const all = [save, window, open, field, nowhere];

test("a small element lies on top of the large one around it, and one without size is not drawn", () => {
  expect(drawn(all, "all").map(({ index }) => index)).toEqual([1, 3, 0, 2]);
});

test("the switch chooses by what can be done, what was tried, and what counts", () => {
  const indexes = (shown: Parameters<typeof drawn>[1]) => drawn(all, shown).map(({ index }) => index).sort();
  expect(indexes("clickable")).toEqual([0, 2, 3]);
  expect(indexes("actions")).toEqual([0]);
  expect(indexes("atoms")).toEqual([0, 2]);
  expect(indexes("none")).toEqual([]);
});

test("the arrow keys go by rows, from the left", () => {
  const order = readingOrder(drawn([field, open, save], "all")).map(({ element: each }) => each);
  expect(order).toEqual([save, open, field]);
});

test("a screen without a picture is as large as what is on it", () => {
  expect(extent(all, null)).toEqual([800, 600]);
  expect(extent([], [10, 10, 90, 40])).toEqual([100, 50]);
  expect(extent([], null)).toEqual([1024, 768]);
});

test("a window gets a margin within the screen; one that fills the screen, or is a dot, is not zoomed to", () => {
  expect(around([100, 100, 400, 300], 1280, 800)).toEqual([84, 88, 432, 324]);
  expect(around([0, 0, 400, 300], 1280, 800)).toEqual([0, 0, 416, 312]);
  expect(around([0, 0, 1280, 800], 1280, 800)).toBeNull();
  expect(around([5, 5, 1, 1], 1280, 800)).toBeNull();
  expect(around([2000, 2000, 400, 300], 1280, 800)).toBeNull();
});

test("a place in the address counts only if there is something in that place", () => {
  expect(placeIn("3", 4)).toBe(3);
  expect(placeIn("4", 4)).toBeNull();
  expect(placeIn("-1", 4)).toBeNull();
  expect(placeIn("x", 4)).toBeNull();
  expect(placeIn(null, 4)).toBeNull();
});
