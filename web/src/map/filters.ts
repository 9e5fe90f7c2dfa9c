/** Which states are shown: what the address asks for, and what that leaves of a scene. */

import { wordColumns, type Scene, type WordColumn } from "./scene";

export interface Filters {
  words: Partial<Record<WordColumn, string>>;
  /** Sequence numbers of discovery; null: no bound. */
  from: number | null;
  to: number | null;
  /** The least u(s). */
  least: number;
  /** Only states where an action crashed or hung. */
  failed: boolean;
}

export function readFilters(query: URLSearchParams): Filters {
  const words: Partial<Record<WordColumn, string>> = {};
  for (const column of wordColumns) {
    const word = query.get(column);
    if (word !== null) words[column] = word;
  }
  return {
    words,
    from: whole(query.get("from")),
    to: whole(query.get("to")),
    least: Math.min(Math.max(Number(query.get("u")) || 0, 0), 1),
    failed: query.get("failed") === "1",
  };
}

/** 1 for each place that is shown. A word that no state has leaves nothing. */
export function visible(scene: Scene, filters: Filters): Uint8Array {
  const shown = new Uint8Array(scene.size).fill(1);
  const { from, to, least, failed } = filters;
  for (const column of wordColumns) {
    const word = filters.words[column];
    if (word === undefined) continue;
    const { names, of } = scene.words[column];
    const number = names.indexOf(word);
    for (let place = 0; place < scene.size; place += 1) if (of[place] !== number) shown[place] = 0;
  }
  for (let place = 0; place < scene.size; place += 1) {
    const seen = scene.firstSeen[place] ?? 0;
    if (
      (from !== null && seen < from) ||
      (to !== null && seen > to) ||
      (least > 0 && (scene.ambiguity[place] ?? 0) < least) ||
      (failed && scene.crashes[place] === 0)
    ) {
      shown[place] = 0;
    }
  }
  return shown;
}

export function isFiltering(filters: Filters): boolean {
  return (
    Object.keys(filters.words).length > 0 ||
    filters.from !== null || filters.to !== null || filters.least > 0 || filters.failed
  );
}

/** Nothing asked for: what a query is amended with to show all. */
export const noFilters = {
  run: null, app: null, mode: null, size: null, window: null, from: null, to: null, u: null, failed: null,
};

function whole(text: string | null): number | null {
  if (text === null || !/^\d+$/.test(text)) return null;
  return Number(text);
}
