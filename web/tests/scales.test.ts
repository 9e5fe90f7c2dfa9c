import { describe, expect, it } from "vitest";
import { categories, categoryColour, hex, otherCategory, radius, ramp, rampColour, thickness } from "../src/map/scales";

/** OKLab lightness of #rrggbb, by the definition: independent of how the scale makes its colours. */
function lightness(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s;
}

describe("the scale of ambiguity", () => {
  it.each([false, true])("has even steps of lightness away from the ground (dark: %s)", (dark) => {
    const steps = ramp(dark).map(lightness).map((value, i, all) => value - (all[i - 1] ?? value)).slice(1);
    const towards = dark ? 1 : -1;
    for (const step of steps) {
      expect(step * towards).toBeGreaterThan(0.002);
      expect(Math.abs(step)).toBeLessThan(0.012);
    }
  });

  it("ends with its ends, also beyond them", () => {
    const colours = ramp(false);
    expect(rampColour(colours, -1)).toBe(colours[0]);
    expect(rampColour(colours, 7)).toBe(colours.at(-1));
    expect(rampColour(colours, 0.5)).toBe(colours[32]);
  });

  it("knows white and black, and greys out what a screen cannot show", () => {
    expect([hex(1, 0, 0), hex(0, 0, 0)]).toEqual(["#ffffff", "#000000"]);
    expect(hex(0.9, 0.4, 30)).toMatch(/^#[0-9a-f]{6}$/);
  });
});

describe("categories", () => {
  it("differ, and the rest is one grey", () => {
    expect(new Set(categories).size).toBe(categories.length);
    expect(categoryColour(99)).toBe(otherCategory);
  });
});

describe("sizes", () => {
  it("grow with visits and counts, and not without bound", () => {
    expect(radius(100, 50)).toBeGreaterThan(radius(1, 50));
    expect(radius(1e9, 50)).toBe(radius(4096, 50));
    expect(radius(10, 30_000)).toBeLessThan(radius(10, 50));
    expect(thickness(100, 10)).toBeGreaterThan(thickness(1, 10));
  });
});
