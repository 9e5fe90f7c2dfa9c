/** Figures of a run as rows of a table and columns of a chart. */

import type { Latency } from "../api/types";
import { duration } from "../format";

export interface Bar {
  label: string;
  count: number;
}

/** A histogram of times: each bar ends where its label says. Empty ends are left out. */
export function latencyBars(latency: Latency): Bar[] {
  const bars = latency.counts.map((count, place) => {
    const bound = latency.bounds[place];
    return { label: bound === undefined ? "longer" : `≤ ${duration(bound)}`, count };
  });
  const first = bars.findIndex((bar) => bar.count > 0);
  if (first < 0) return [];
  let last = bars.length - 1;
  while (bars[last]!.count === 0) last -= 1;
  return bars.slice(first, last + 1);
}

/** How many episodes had so many steps, in at most `most` groups of equal width. */
export function lengthBars(lengths: Record<string, number>, most = 10): Bar[] {
  const known = Object.entries(lengths)
    .map(([steps, count]) => [Number(steps), count] as const)
    .filter(([steps]) => Number.isFinite(steps));
  if (!known.length) return [];
  const longest = Math.max(...known.map(([steps]) => steps));
  const shortest = Math.min(...known.map(([steps]) => steps));
  const width = Math.max(1, Math.ceil((longest - shortest + 1) / most));
  const bars: Bar[] = [];
  for (let from = shortest; from <= longest; from += width) {
    const to = from + width - 1;
    const count = known.reduce((sum, [steps, each]) => sum + (steps >= from && steps <= to ? each : 0), 0);
    bars.push({ label: width === 1 ? String(from) : `${from}–${to}`, count });
  }
  return bars;
}

/** Some rows of a long course, evenly chosen, always with the last: what a table of it shows. */
export function thinned(length: number, most = 20): number[] {
  if (length <= most) return Array.from({ length }, (_, place) => place);
  return Array.from({ length: most }, (_, place) => Math.round((place * (length - 1)) / (most - 1)));
}
