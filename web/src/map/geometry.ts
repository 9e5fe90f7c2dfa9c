/** Where things are on the screen, at one moment of the camera. */

import type { Scene } from "./scene";

/** Layout to pixels: straight, without turning. */
export interface Projection {
  scaleX: number;
  shiftX: number;
  scaleY: number;
  shiftY: number;
  width: number;
  height: number;
}

/** A state on the screen: its middle, and half of its width and height (a disc has both alike). */
export interface Spot {
  place: number;
  x: number;
  y: number;
  halfWidth: number;
  halfHeight: number;
  pictured: boolean;
}

/** Pictures are this much higher than wide until they are loaded, and never higher. */
export const aspect = 0.66;
/** A picture narrower than this many pixels says nothing. */
export const leastPicture = 24;
const mostPicture = 250;
/** Of the room that a picture has: some is left for arrows. */
const roomShare = 0.88;

export function projected(projection: Projection, x: number, y: number): [number, number] {
  return [x * projection.scaleX + projection.shiftX, y * projection.scaleY + projection.shiftY];
}

/** How wide a state's picture may be, in pixels: by its room, and within that by its visits. */
export function pictureWidth(room: number, visits: number, projection: Projection): number {
  const eager = 0.75 + 0.25 * Math.min(Math.log2(1 + visits) / 8, 1);
  return Math.min(room * Math.abs(projection.scaleX) * roomShare * eager, mostPicture);
}

/** Where a state is, written `into` a spot if there is one to be used again. */
export function spotOf(
  scene: Scene, place: number, projection: Projection, room: Float64Array, radius: number, pictures: boolean,
  into: Spot = { place, x: 0, y: 0, halfWidth: 0, halfHeight: 0, pictured: false },
): Spot {
  [into.x, into.y] = projected(projection, scene.x[place] ?? 0, scene.y[place] ?? 0);
  const width = pictures ? pictureWidth(room[place] ?? 0, scene.visits[place] ?? 0, projection) : 0;
  into.place = place;
  into.pictured = width >= leastPicture && scene.picture[place] === 1;
  into.halfWidth = into.pictured ? width / 2 : radius;
  into.halfHeight = into.pictured ? (width * aspect) / 2 : radius;
  return into;
}

export function inView(spot: Spot, projection: Projection): boolean {
  return (
    spot.x + spot.halfWidth > 0 && spot.x - spot.halfWidth < projection.width &&
    spot.y + spot.halfHeight > 0 && spot.y - spot.halfHeight < projection.height
  );
}

/** Where a line from the middle of a spot towards another point leaves it, `gap` pixels outside. */
export function border(spot: Spot, towardsX: number, towardsY: number, gap = 0): [number, number] {
  const dx = towardsX - spot.x;
  const dy = towardsY - spot.y;
  const length = Math.hypot(dx, dy) || 1;
  const reach = spot.pictured
    ? Math.min(
        dx === 0 ? Infinity : (spot.halfWidth * length) / Math.abs(dx),
        dy === 0 ? Infinity : (spot.halfHeight * length) / Math.abs(dy),
      )
    : spot.halfWidth;
  return [spot.x + (dx / length) * (reach + gap), spot.y + (dy / length) * (reach + gap)];
}

/** The spot under a point: the nearest of those that hold it, with `slack` pixels around discs. */
export function spotAt(spots: Iterable<Spot>, x: number, y: number, slack = 4): Spot | null {
  let best: Spot | null = null;
  let least = Infinity;
  for (const spot of spots) {
    const dx = Math.abs(x - spot.x);
    const dy = Math.abs(y - spot.y);
    if (dx > spot.halfWidth + slack || dy > spot.halfHeight + slack) continue; // as nearly all are
    const holds = spot.pictured
      ? dx <= spot.halfWidth && dy <= spot.halfHeight
      : Math.hypot(dx, dy) <= spot.halfWidth + slack;
    const distance = Math.hypot(dx, dy);
    if (holds && distance < least) {
      best = spot;
      least = distance;
    }
  }
  return best;
}
