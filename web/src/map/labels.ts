/** Where words may stand on the map: below their state, not over another state or other words, not cut by the edge. */

import { fitting, letter } from "./draw";
import type { Spot } from "./geometry";

export interface Label {
  text: string;
  /** The middle of the upper edge. */
  x: number;
  y: number;
}

const cell = 4; // pixels
const high = 14; // pixels of a line of words
const gap = 4; // pixels between a state and its words
const short = 75; // pixels of words where there is no room for more

/** What is taken of the picture, in small squares. */
export class Room {
  private readonly columns: number;
  private readonly rows: number;
  private readonly taken: Uint8Array;

  constructor(readonly width: number, readonly height: number, spots: Iterable<Spot> = []) {
    this.columns = Math.ceil(width / cell) + 1;
    this.rows = Math.ceil(height / cell) + 1;
    this.taken = new Uint8Array(this.columns * this.rows);
    for (const { x, y, halfWidth, halfHeight } of spots) this.take(x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight);
  }

  isFree(left: number, top: number, right: number, bottom: number): boolean {
    const low = this.column(left);
    const end = this.column(right);
    const to = this.row(bottom);
    for (let row = this.row(top); row < to; row += 1) {
      for (let column = low; column < end; column += 1) if (this.taken[row * this.columns + column] === 1) return false;
    }
    return true;
  }

  take(left: number, top: number, right: number, bottom: number): void {
    const low = this.column(left);
    const end = Math.max(this.column(right), low);
    const to = this.row(bottom);
    for (let row = this.row(top); row < to; row += 1) this.taken.fill(1, row * this.columns + low, row * this.columns + end);
  }

  private column(x: number): number {
    return Math.min(Math.max(Math.round(x / cell), 0), this.columns);
  }

  private row(y: number): number {
    return Math.min(Math.max(Math.round(y / cell), 0), this.rows);
  }
}

/**
 * The words of as many spots as there is room for, in the order of the spots. Where the whole does not fit a few
 * words may, or the first alone: it is the number, which every command takes.
 */
export function placed(spots: Spot[], wordsOf: (spot: Spot) => string, room: Room, most: number): Label[] {
  const labels: Label[] = [];
  for (const spot of spots) {
    if (labels.length >= most) break;
    const y = spot.y + spot.halfHeight + gap;
    if (y + high > room.height) continue;
    const words = wordsOf(spot);
    const whole = fitting(words, spot.pictured ? Math.max(spot.halfWidth * 2.2, 110) : 150);
    for (const text of new Set([whole, fitting(whole, short), words.split(" ", 1)[0] ?? ""])) {
      const half = (text.length * letter) / 2;
      if (text === "" || half * 2 + 4 > room.width) continue;
      const x = Math.min(Math.max(spot.x, half + 2), room.width - half - 2);
      if (!room.isFree(x - half, y, x + half, y + high)) continue;
      room.take(x - half, y, x + half, y + high);
      labels.push({ text, x, y });
      break;
    }
  }
  return labels;
}
