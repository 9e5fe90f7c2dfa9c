// @vitest-environment node
import { expect, test } from "vitest";
import type { Spot } from "../src/map/geometry";
import { placed, Room } from "../src/map/labels";

const disc = (place: number, x: number, y: number): Spot => ({
  place, x, y, halfWidth: 10, halfHeight: 10, pictured: false,
});
const words = ({ place }: Spot) => `${place} preferences of the editor`;

function texts(spots: Spot[], width = 400, height = 300): string[] {
  return placed(spots, words, new Room(width, height, spots), 10).map(({ text }) => text);
}

test("words stand whole below a state that has room", () => {
  const spots = [disc(7, 200, 100)];
  const [label] = placed(spots, words, new Room(400, 300, spots), 10);
  expect(label?.text).toMatch(/^7 preferences of the/);
  expect(label).toMatchObject({ x: 200, y: 114 });
});

test("where the words would lie over another state they are cut, and to the number if need be", () => {
  expect(texts([disc(1, 200, 100), disc(2, 260, 120)])[0]).toMatch(/^1 prefer.*…$/);
  expect(texts([disc(1, 200, 100), disc(2, 225, 120), disc(3, 175, 120)])[0]).toBe("1");
  expect(texts([disc(1, 200, 100), disc(2, 200, 122)])).toEqual([expect.stringMatching(/^2 pref/)]);
});

test("no words lie over others, and there are no more than asked for", () => {
  const spots = Array.from({ length: 60 }, (_, place) => disc(place, 20 + (place % 10) * 40, 20 + Math.floor(place / 10) * 45));
  const labels = placed(spots, words, new Room(440, 320, spots), 30);
  expect(labels.length).toBe(30);
  for (const [at, one] of labels.entries()) {
    for (const other of labels.slice(at + 1)) {
      const apart = ((one.text.length + other.text.length) * 6.3) / 2 - 4;
      expect(Math.abs(one.x - other.x) >= apart || Math.abs(one.y - other.y) >= 10).toBe(true);
    }
  }
});

test("words at the edge are moved in, and left out below it", () => {
  const [label] = placed([disc(1, 5, 50)], words, new Room(400, 300), 10);
  expect(label?.x).toBeGreaterThan(50);
  expect(placed([disc(1, 200, 290)], words, new Room(400, 300), 10)).toEqual([]);
});
