// @vitest-environment node
import { expect, test } from "vitest";
import { differ, TOLERANCE } from "../src/logic/pixels";

/** A picture of one grey, four pixels wide and three high. */
const plain = (grey = 100) => new Uint8ClampedArray(4 * 3 * 4).map((_, place) => (place % 4 === 3 ? 255 : grey));

function painted(pixels: [number, number][], grey = 200): Uint8ClampedArray {
  const image = plain();
  for (const [x, y] of pixels) image.fill(grey, (y * 4 + x) * 4, (y * 4 + x) * 4 + 3);
  return image;
}

test("equal pictures have no changed pixel and no box", () => {
  expect(differ(plain(), plain(), 4)).toMatchObject({ changed: 0, box: null });
});

test("changed pixels are counted, coloured, and framed by a box", () => {
  const { changed, box, image } = differ(plain(), painted([[1, 0], [3, 2]]), 4, [1, 2, 3]);
  expect(changed).toBe(2);
  expect(box).toEqual([1, 0, 3, 3]);
  expect([...image.slice(4, 8)]).toEqual([1, 2, 3, 255]);
});

test("what did not change is faded and not coloured", () => {
  const { image } = differ(plain(), painted([[1, 0]]), 4);
  expect(image[0]).toBe(image[1]);
  expect(image[0]).toBeGreaterThan(150);
});

test("a difference within the tolerance is none", () => {
  expect(differ(plain(), painted([[0, 0]], 100 + TOLERANCE), 4).changed).toBe(0);
  expect(differ(plain(), painted([[0, 0]], 101 + TOLERANCE), 4).changed).toBe(1);
});

test("pictures of different sizes are refused", () => {
  expect(() => differ(plain(), new Uint8ClampedArray(8), 4)).toThrow(RangeError);
});
