/** The search of a report: plain words, without an index. The viewer's own search knows more. */

export interface Found {
  place: number;
  score: number;
}

/**
 * The texts, as their words, that hold all words of a query, each at the beginning of a word of theirs; those that hold them
 * more often, among fewer words, come first. A query without words finds nothing.
 */
export function findWords(query: string, texts: string[][]): Found[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  const found: Found[] = [];
  texts.forEach((there, place) => {
    let score = 0;
    for (const word of words) {
      const hits = there.filter((each) => each.startsWith(word)).length;
      if (hits === 0) return;
      score += hits / (hits + 1 + there.length / 50);
    }
    found.push({ place, score });
  });
  return found.sort((a, b) => b.score - a.score || a.place - b.place);
}

/** Some of a text around the first word of the query that is in it. */
export function snippetOf(query: string, text: string, length = 160): string {
  const lower = text.toLowerCase();
  const places = wordsOf(query).map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const first = places.length > 0 ? Math.min(...places) : 0;
  const begin = Math.max(0, first - length / 3);
  return `${begin > 0 ? "…" : ""}${text.slice(begin, begin + length)}${begin + length < text.length ? "…" : ""}`;
}

/** The words of a text: letters and digits, in lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
