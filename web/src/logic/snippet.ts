/** The words that were searched for, marked in a text. */

export interface Piece {
  text: string;
  marked: boolean;
}

/** The words of a query: letters and digits of any script, each once. */
export function wordsOf(query: string): string[] {
  return [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
}

/** A text in pieces. A word of the query marks every word that begins with it, whatever its case. */
export function mark(text: string, query: string): Piece[] {
  const words = wordsOf(query).sort((a, b) => b.length - a.length);
  if (!words.length) return text ? [{ text, marked: false }] : [];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})[\\p{L}\\p{N}]*`, "giu");
  const pieces: Piece[] = [];
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    if (found.index > end) pieces.push({ text: text.slice(end, found.index), marked: false });
    end = found.index + found[0].length;
    pieces.push({ text: found[0], marked: true });
  }
  if (end < text.length) pieces.push({ text: text.slice(end), marked: false });
  return pieces;
}
