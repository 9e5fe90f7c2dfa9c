/** Which pixels of two pictures differ. */

export interface PixelDifference {
  /** RGBA of the width and height given: changed pixels in the colour, the others the first picture, faded. */
  image: Uint8ClampedArray<ArrayBuffer>;
  changed: number;
  /** x, y, width, height around all that changed; null when nothing did. */
  box: [number, number, number, number] | null;
}

/** How far a channel may be apart and still count as the same: two renderings of one glyph. */
export const TOLERANCE = 8;

/** Compare two RGBA pictures of one size, pixel by pixel. */
export function differ(
  first: Uint8ClampedArray,
  second: Uint8ClampedArray,
  width: number,
  colour: readonly [number, number, number] = [214, 40, 130],
  tolerance = TOLERANCE,
): PixelDifference {
  if (first.length !== second.length) {
    throw new RangeError(`pictures of ${first.length} and ${second.length} bytes cannot be compared`);
  }
  const image = new Uint8ClampedArray(first.length);
  let changed = 0;
  let [left, top, right, bottom] = [Infinity, Infinity, -1, -1];
  for (let at = 0; at < first.length; at += 4) {
    const apart = Math.max(
      Math.abs(first[at]! - second[at]!),
      Math.abs(first[at + 1]! - second[at + 1]!),
      Math.abs(first[at + 2]! - second[at + 2]!),
    );
    if (apart > tolerance) {
      changed += 1;
      const pixel = at / 4;
      const x = pixel % width;
      const y = (pixel - x) / width;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
      image[at] = colour[0];
      image[at + 1] = colour[1];
      image[at + 2] = colour[2];
    } else {
      const grey = 0.3 * first[at]! + 0.59 * first[at + 1]! + 0.11 * first[at + 2]!;
      const faded = 170 + grey / 3;
      image[at] = faded;
      image[at + 1] = faded;
      image[at + 2] = faded;
    }
    image[at + 3] = 255;
  }
  return { image, changed, box: changed ? [left, top, right - left + 1, bottom - top + 1] : null };
}
