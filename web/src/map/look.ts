/** How states are coloured, and what the legend says about it. */

import { colour, isDark } from "../theme";
import type { Colours } from "./draw";
import { categoryColour, otherCategory, categories, ramp, rampColour, type ColourBy } from "./scales";
import type { Look } from "./overlay";
import type { Scene } from "./scene";

export interface Key {
  title: string;
  /** A run of colours with numbers at its ends, or a list of names with a colour each. */
  ramp?: { colours: string[]; low: string; high: string };
  names?: { name: string; colour: string }[];
}

export function palette(): Colours {
  return {
    ground: colour("--ground"),
    surface: colour("--surface"),
    sunken: colour("--sunken"),
    text: colour("--text"),
    muted: colour("--muted"),
    link: colour("--link"),
    far: colour("--link-far"),
    accent: colour("--accent"),
    bad: colour("--bad"),
    good: colour("--good"),
  };
}

/** The places, and of these links those, that do not look as they did. */
export function changes(scene: Scene, links: number[], before: Look, after: Look): { places: number[]; links: number[] } {
  const places: number[] = [];
  for (let place = 0; place < scene.size; place += 1) {
    if (before.shown[place] !== after.shown[place] || before.colours[place] !== after.colours[place]) places.push(place);
  }
  const { source, target } = scene.links;
  const isShown = ({ shown }: Look, link: number) => shown[source[link] ?? 0] === 1 && shown[target[link] ?? 0] === 1;
  const recoloured = before.palette.far !== after.palette.far;
  return { places, links: links.filter((link) => recoloured || isShown(before, link) !== isShown(after, link)) };
}

/** A colour for each state, and the key to them. */
export function coloured(scene: Scene, by: ColourBy): { colours: string[]; key: Key } {
  if (by === "window" || by === "run") {
    const { names, of } = scene.words[by];
    const used = new Map<number, number>();
    for (const word of of) used.set(word, (used.get(word) ?? 0) + 1);
    const ranked = [...used].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([word]) => word);
    const rank = new Map(ranked.map((word, index) => [word, index]));
    const key = ranked.slice(0, categories.length).map((word, index) => ({
      name: names[word] || "without a window", colour: categoryColour(index),
    }));
    if (ranked.length > categories.length) key.push({ name: "others", colour: otherCategory });
    return {
      colours: Array.from(of, (word) => categoryColour(rank.get(word) ?? Infinity)),
      key: { title: by === "run" ? "Run" : "Window", names: key },
    };
  }
  const colours = ramp(isDark());
  if (by === "depth") {
    const deepest = Math.max(1, scene.depth.reduce((most, depth) => Math.max(most, depth), 0));
    return {
      colours: Array.from(scene.depth, (depth) => (depth < 0 ? otherCategory : rampColour(colours, depth / deepest))),
      key: { title: "Actions from the start", ramp: { colours, low: "0", high: String(deepest) } },
    };
  }
  return {
    colours: Array.from(scene.ambiguity, (value) => rampColour(colours, value)),
    key: { title: "Ambiguity u(s)", ramp: { colours, low: "0", high: "1" } },
  };
}
