/**
 * Colours and sizes. The scale of ambiguity runs through OKLCH with even steps of lightness, so that it reads in
 * grey and with any colour vision; it leads away from the ground, so that what is ambiguous stands out.
 */

export type ColourBy = "ambiguity" | "depth" | "window" | "run";
export const colourings: ColourBy[] = ["ambiguity", "depth", "window", "run"];

type Lch = [number, number, number];

const ramps: Record<"light" | "dark", Lch[]> = {
  light: [[0.8, 0.055, 235], [0.6, 0.15, 295], [0.4, 0.165, 350]],
  dark: [[0.42, 0.05, 245], [0.64, 0.16, 330], [0.88, 0.14, 85]],
};

/** Okabe and Ito's, which are told apart with any colour vision; what is left over is grey. */
export const categories = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b5a900"];
export const otherCategory = "#8a8f96";

const steps = 64;

/** Colours from low to high, `steps + 1` of them. */
export function ramp(dark: boolean): string[] {
  const anchors = ramps[dark ? "dark" : "light"];
  return Array.from({ length: steps + 1 }, (_, step) => {
    const at = (step / steps) * (anchors.length - 1);
    const index = Math.min(Math.floor(at), anchors.length - 2);
    const low = anchors[index] as Lch;
    const high = anchors[index + 1] as Lch;
    const part = at - index;
    // The shorter way around the circle of hues.
    const turn = ((high[2] - low[2] + 540) % 360) - 180;
    return hex(mix(low[0], high[0], part), mix(low[1], high[1], part), low[2] + turn * part);
  });
}

export function rampColour(colours: string[], value: number): string {
  const step = Math.round(Math.min(Math.max(value, 0), 1) * (colours.length - 1));
  return colours[step] ?? otherCategory;
}

export function categoryColour(number: number): string {
  return categories[number] ?? otherCategory;
}

/** The radius of a state in pixels: by the logarithm of its visits, smaller on a crowded map. */
export function radius(visits: number, states: number): number {
  const crowd = states > 5000 ? 0.45 : states > 1000 ? 0.7 : 1;
  return (3 + 1.9 * Math.log2(1 + Math.min(visits, 4096))) * crowd * (states > 5000 ? 0.8 : 1);
}

/** The thickness of a link in pixels: by the logarithm of its transitions. */
export function thickness(count: number, links: number): number {
  return (links > 20_000 ? 0.35 : 0.8) + 0.35 * Math.log2(Math.max(count, 1));
}

/** OKLCH to `#rrggbb`; what the screen cannot show is drawn towards grey until it can. */
export function hex(lightness: number, chroma: number, hue: number): string {
  for (let c = chroma; ; c -= 0.005) {
    const channels = linear(lightness, Math.max(c, 0), hue);
    if (c <= 0 || channels.every((value) => value >= -1e-4 && value <= 1.0001)) {
      return `#${channels.map((value) => byte(gamma(Math.min(Math.max(value, 0), 1)))).join("")}`;
    }
  }
}

function linear(lightness: number, chroma: number, hue: number): number[] {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function mix(low: number, high: number, part: number): number {
  return low + (high - low) * part;
}

function gamma(value: number): number {
  return value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055;
}

function byte(value: number): string {
  return Math.round(value * 255).toString(16).padStart(2, "0");
}
