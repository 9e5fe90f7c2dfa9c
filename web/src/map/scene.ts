/**
 * What a map shows, as columns: the states of one run, or of several runs side by side. A place is a position in
 * the columns; it stands for a state of a run everywhere on the map.
 */

import type { Map as StateMap } from "../api/types";
import { aspect } from "./geometry";

export interface Scene {
  runs: string[];
  size: number;
  run: Uint8Array;
  id: Int32Array;
  x: Float64Array;
  y: Float64Array;
  depth: Int32Array;
  visits: Int32Array;
  ambiguity: Float64Array;
  firstSeen: Int32Array;
  /** Of all workers' time, when it was discovered. */
  seconds: Float64Array;
  crashes: Int32Array;
  start: Uint8Array;
  picture: Uint8Array;
  title: string[];
  /** Words by name of the column, and the place of each state's word in them. */
  words: Record<WordColumn, { names: string[]; of: Uint16Array }>;
  links: Links;
  /** The last sequence number of the longest run. */
  sequence: number;
}

export type WordColumn = "run" | "app" | "mode" | "size" | "window";
export const wordColumns: WordColumn[] = ["run", "app", "mode", "size", "window"];

export interface Links {
  source: Int32Array;
  target: Int32Array;
  count: Int32Array;
  certain: Float64Array;
  /** Links by source and by target: `out.order.subarray(out.from[p], out.from[p + 1])` are those of place p. */
  out: Grouped;
  into: Grouped;
}

export interface Grouped {
  from: Int32Array;
  order: Int32Array;
}

/** The layout is wider than high, as screens are, and so are the pictures: it is drawn out to fill them. */
const wide = 1.6;
/** On a screen that is higher than wide it is pressed together. */
const narrow = 0.7;

/** Runs stand beside each other, or `upright` below each other, with room for their names. */
export function makeScene(maps: StateMap[], upright = false): Scene {
  const stretch = upright ? narrow : wide;
  const size = maps.reduce((total, map) => total + map.states.id.length, 0);
  const linked = maps.reduce((total, map) => total + map.links.source.length, 0);
  const scene: Scene = {
    runs: maps.map((map) => map.run),
    size,
    run: new Uint8Array(size),
    id: new Int32Array(size),
    x: new Float64Array(size),
    y: new Float64Array(size),
    depth: new Int32Array(size),
    visits: new Int32Array(size),
    ambiguity: new Float64Array(size),
    firstSeen: new Int32Array(size),
    seconds: new Float64Array(size),
    crashes: new Int32Array(size),
    start: new Uint8Array(size),
    picture: new Uint8Array(size),
    title: [],
    words: {
      run: { names: [], of: new Uint16Array(size) },
      app: { names: [], of: new Uint16Array(size) },
      mode: { names: [], of: new Uint16Array(size) },
      size: { names: [], of: new Uint16Array(size) },
      window: { names: [], of: new Uint16Array(size) },
    },
    links: {
      source: new Int32Array(linked),
      target: new Int32Array(linked),
      count: new Int32Array(linked),
      certain: new Float64Array(linked),
      out: { from: new Int32Array(0), order: new Int32Array(0) },
      into: { from: new Int32Array(0), order: new Int32Array(0) },
    },
    sequence: maps.reduce((most, map) => Math.max(most, map.sequence), 0),
  };
  let base = 0;
  let link = 0;
  let edge = 0; // of the runs before: their right, or their lower one
  maps.forEach((map, number) => {
    const { states, links } = map;
    const [left, width] = extent(states.x).map((value) => value * stretch) as [number, number];
    const [bottom, height] = extent(states.y);
    const right = number === 0 || upright ? 0 : edge + Math.max(width, 1) * 0.1 - left;
    const down = number === 0 || !upright ? 0 : bottom + height + Math.max(height, 1) * 0.25 - edge;
    scene.run.fill(number, base, base + states.id.length);
    scene.id.set(states.id, base);
    scene.x.set(states.x.map((x) => x * stretch + right), base);
    scene.y.set(states.y.map((y) => y - down), base);
    scene.depth.set(states.depth, base);
    scene.visits.set(states.visits, base);
    scene.ambiguity.set(states.ambiguity, base);
    scene.firstSeen.set(states.first_seen, base);
    scene.seconds.set(states.seconds, base);
    scene.crashes.set(states.crashes, base);
    scene.start.set(states.start.map(Number), base);
    scene.picture.set(states.picture.map(Number), base);
    for (const title of states.title) scene.title.push(title);
    addWords(scene, "run", [map.run], states.id.map(() => 0), base);
    addWords(scene, "app", map.applications, states.application, base);
    addWords(scene, "mode", map.display_modes, states.display_mode, base);
    addWords(scene, "size", map.text_sizes, states.text_size, base);
    addWords(scene, "window", map.windows, states.window, base);
    for (let i = 0; i < links.source.length; i += 1) {
      scene.links.source[link] = base + (links.source[i] ?? 0);
      scene.links.target[link] = base + (links.target[i] ?? 0);
      scene.links.count[link] = links.count[i] ?? 0;
      scene.links.certain[link] = links.certain[i] ?? 0;
      link += 1;
    }
    edge = upright ? bottom - down : left + right + width;
    base += states.id.length;
  });
  scene.links.out = grouped(scene.links.source, size);
  scene.links.into = grouped(scene.links.target, size);
  return scene;
}

/** The place of a state; -1 if it is not in the scene. Ids are dense and in order as a rule, but need not be. */
export function placeOf(scene: Scene, run: string, id: number): number {
  const number = scene.runs.indexOf(run);
  if (number < 0) return -1;
  const first = scene.run.indexOf(number);
  if (first >= 0 && scene.id[first + id] === id && scene.run[first + id] === number) return first + id;
  for (let place = 0; place < scene.size; place += 1) {
    if (scene.id[place] === id && scene.run[place] === number) return place;
  }
  return -1;
}

export function runOf(scene: Scene, place: number): string {
  return scene.runs[scene.run[place] ?? 0] ?? "";
}

export function wordOf(scene: Scene, column: WordColumn, place: number): string {
  const { names, of } = scene.words[column];
  return names[of[place] ?? 0] ?? "";
}

/** From afar more links than this are a grey plane, and cost a second a frame without a graphics card. */
export const mostFarLinks = 20_000;

/** The links that are drawn from afar: between two states, the most frequent if they are too many. */
export function farLinks({ links }: Scene, most = mostFarLinks): number[] {
  const found: number[] = [];
  for (let link = 0; link < links.source.length; link += 1) if (links.source[link] !== links.target[link]) found.push(link);
  if (found.length <= most) return found;
  return found.sort((a, b) => (links.count[b] ?? 0) - (links.count[a] ?? 0) || a - b).slice(0, most);
}

/** Links from a place to others, then to it from others: [other, link, outgoing]. At most `limit` each way. */
export function neighbours(scene: Scene, place: number, limit = Infinity): [number, number, boolean][] {
  const found: [number, number, boolean][] = [];
  for (const [group, ends, outgoing] of [
    [scene.links.out, scene.links.target, true],
    [scene.links.into, scene.links.source, false],
  ] as const) {
    const links = group.order.subarray(group.from[place] ?? 0, group.from[place + 1] ?? 0);
    for (const link of links.length > limit ? mostCounted(scene, links, limit) : links) {
      const other = ends[link] ?? 0;
      if (other !== place) found.push([other, link, outgoing]);
    }
  }
  return found;
}

function mostCounted(scene: Scene, links: Int32Array, limit: number): number[] {
  return [...links]
    .sort((a, b) => (scene.links.count[b] ?? 0) - (scene.links.count[a] ?? 0) || a - b)
    .slice(0, limit);
}

/** How wide a picture at each place may be, in units of the layout, so that none as wide covers another. */
export function freeRoom(scene: Scene): Float64Array {
  const { x, y, size } = scene;
  const room = new Float64Array(size).fill(Infinity);
  const [left, width] = extent(x);
  const [top, height] = extent(y);
  const cell = Math.max(Math.sqrt((Math.max(width, 1e-9) * Math.max(height, 1e-9)) / Math.max(size, 1)), 1e-9);
  const columns = Math.floor(width / cell) + 1;
  const cells = new Map<number, number[]>();
  const at = (place: number) => {
    const column = Math.floor(((x[place] ?? 0) - left) / cell);
    return [column, Math.floor(((y[place] ?? 0) - top) / cell)] as const;
  };
  for (let place = 0; place < size; place += 1) {
    const [column, row] = at(place);
    const key = row * columns + column;
    const members = cells.get(key);
    if (members) members.push(place);
    else cells.set(key, [place]);
  }
  for (let place = 0; place < size; place += 1) {
    const [column, row] = at(place);
    for (let dy = -1; dy <= 1; dy += 1) {
      for (let dx = -1; dx <= 1; dx += 1) {
        if (column + dx < 0 || column + dx >= columns) continue;
        // Where many share a cell the nearest is near enough among the first of them.
        for (const other of cells.get((row + dy) * columns + column + dx)?.slice(0, 64) ?? []) {
          if (other === place) continue;
          const across = Math.abs((x[place] ?? 0) - (x[other] ?? 0));
          const down = Math.abs((y[place] ?? 0) - (y[other] ?? 0)) / aspect;
          const distance = Math.max(across, down);
          if (distance < (room[place] ?? 0)) room[place] = distance;
        }
      }
    }
    // Alone in nine cells: nobody is nearer than one cell.
    if (room[place] === Infinity) room[place] = cell;
  }
  return room;
}

function addWords(scene: Scene, column: WordColumn, names: string[], of: number[], base: number): void {
  const target = scene.words[column];
  const renamed = names.map((name) => {
    const known = target.names.indexOf(name);
    return known >= 0 ? known : target.names.push(name) - 1;
  });
  for (let i = 0; i < of.length; i += 1) target.of[base + i] = renamed[of[i] ?? 0] ?? 0;
}

function grouped(ends: Int32Array, size: number): Grouped {
  const from = new Int32Array(size + 1);
  for (const end of ends) from[end + 1] = (from[end + 1] ?? 0) + 1;
  for (let place = 0; place < size; place += 1) from[place + 1] = (from[place + 1] ?? 0) + (from[place] ?? 0);
  const next = from.slice();
  const order = new Int32Array(ends.length);
  ends.forEach((end, link) => {
    order[next[end] ?? 0] = link;
    next[end] = (next[end] ?? 0) + 1;
  });
  return { from, order };
}

/** The least value, and how far the greatest is from it. */
export function extent(values: ArrayLike<number>): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] ?? 0;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return values.length === 0 ? [0, 0] : [low, high - low];
}
