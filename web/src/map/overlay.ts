/**
 * What is drawn over the map in two dimensions: pictures, their arrows and words where they are large enough to be
 * seen, and what is hovered, selected or on the path. The cost is that of what is in view, which is bounded.
 */

import { line } from "../format";
import { arrow, letter, ring, sign, state as drawState, words, type Colours } from "./draw";
import { inView, spotOf, type Projection, type Spot } from "./geometry";
import { placed, Room } from "./labels";
import { neighbours, type Scene } from "./scene";
import { thickness } from "./scales";

export interface Look {
  shown: Uint8Array;
  colours: string[];
  palette: Colours;
}

export interface Focus {
  hovered: number | null;
  selected: number | null;
  /** Places from a start to the selected state. */
  path: number[];
}

/** One moment: what there is, how it looks, and where the camera is. */
export interface Moment {
  scene: Scene;
  look: Look;
  room: Float64Array;
  radii: Float32Array;
  projection: Projection;
  /** Pixels for each unit of the radii. */
  grow: number;
}

type Context = CanvasRenderingContext2D;

const mostPictures = 400;
const mostLinks = 2500;
const mostWords = 60;
const mostWordsFar = 24;
const mostWordsFocused = 40;

/** Whether all but the focus fades: what is hovered, or a path. */
export function isDimming(focus: Focus): boolean {
  return focus.hovered !== null || focus.path.length > 1;
}

/** Whether anything is drawn on the sheet of the focus. */
export function isFocused(focus: Focus): boolean {
  return isDimming(focus) || focus.selected !== null;
}

export class Overlay {
  /** The spots of the moment before, by place: tens of thousands in each frame would stop it to collect them. */
  private readonly kept: Spot[] = [];

  constructor(private readonly picture: (place: number) => HTMLImageElement | null) {}

  /**
   * Draw all; answers the spots in view, and whether the picture of states and arrows is complete without WebGL:
   * so it is where most that is in view has a picture. The spots hold until the next drawing.
   */
  draw(on: { near: Context; focus: Context }, moment: Moment, focus: Focus): { spots: Spot[]; pictured: boolean } {
    for (const context of [on.near, on.focus]) context.clearRect(0, 0, moment.projection.width, moment.projection.height);
    const spots = this.inSight(moment);
    const pictures = spots.reduce((total, spot) => total + Number(spot.pictured), 0);
    const links = pictures * 2 > spots.length ? linksOf(moment, spots) : null;
    if (links) drawLinks(on.near, moment, spots, links);
    for (const spot of spots) if (spot.pictured || links) this.drawSpot(on.near, moment, spot);
    for (const spot of spots) drawSigns(on.near, moment, spot);
    const { width, height } = moment.projection;
    const worded = spots.filter((spot) => spot.halfWidth >= (spot.pictured ? 30 : 7));
    const free = worded.length > 0 || focus.selected !== null ? new Room(width, height, spots) : null;
    drawRuns(on.near, moment, spots, free);
    this.drawFocus(on.focus, moment, focus, isDimming(focus) ? null : free);
    if (free) drawWords(on.near, moment, worded, free, links ? mostWords : mostWordsFar);
    return { spots, pictured: links !== null };
  }

  /** The spots of what is shown and in view; pictures for those with the most room. */
  private inSight({ scene, look, room, radii, projection, grow }: Moment): Spot[] {
    const spots: Spot[] = [];
    for (let place = 0; place < scene.size; place += 1) {
      if (look.shown[place] !== 1) continue;
      const spot = spotOf(scene, place, projection, room, (radii[place] ?? 2) * grow, true, this.kept[place]);
      this.kept[place] = spot;
      if (inView(spot, projection)) spots.push(spot);
    }
    const widths = Float64Array.from(spots.filter((spot) => spot.pictured), (spot) => spot.halfWidth);
    if (widths.length > mostPictures) {
      const least = widths.sort()[widths.length - 1 - mostPictures] ?? 0;
      for (const spot of spots) {
        if (!spot.pictured || spot.halfWidth > least) continue;
        spot.pictured = false;
        spot.halfWidth = spot.halfHeight = (radii[spot.place] ?? 2) * grow;
      }
    }
    for (const spot of spots) this.shaped(spot);
    return spots;
  }

  /** A frame has the shape of its picture, within the room that it has. */
  private shaped(spot: Spot): Spot {
    const picture = spot.pictured ? this.picture(spot.place) : null;
    if (picture && picture.naturalWidth > 0) {
      const shape = picture.naturalHeight / picture.naturalWidth;
      spot.halfWidth = Math.min(spot.halfWidth, spot.halfHeight / shape);
      spot.halfHeight = spot.halfWidth * shape;
    }
    return spot;
  }

  private drawSpot(context: Context, { look }: Moment, spot: Spot): void {
    const picture = spot.pictured ? this.picture(spot.place) : null;
    drawState(context, spot, look.colours[spot.place] ?? "#888", picture, look.palette);
  }

  /**
   * What is hovered with its neighbours, what is selected, and the path to it. Its words keep to what is `free`; if that
   * is null only clear of each other, since the rest is dimmed.
   */
  private drawFocus(context: Context, moment: Moment, focus: Focus, free: Room | null): void {
    const { scene, look, room, radii, projection, grow } = moment;
    const { palette } = look;
    const drawn = new Map<number, Spot>();
    const spot = (place: number): Spot => {
      const known = drawn.get(place);
      if (known) return known;
      const made = this.shaped(spotOf(scene, place, projection, room, Math.max((radii[place] ?? 2) * grow, 3.5), true));
      drawn.set(place, made);
      return made;
    };
    const shown = (place: number | null): place is number => place !== null && look.shown[place] === 1;
    const middle = focus.hovered ?? (focus.path.length > 1 ? null : focus.selected);
    if (shown(middle)) {
      for (const [other, link, outgoing] of neighbours(scene, middle, 150)) {
        if (!shown(other)) continue;
        const ends: [Spot, Spot] = outgoing ? [spot(middle), spot(other)] : [spot(other), spot(middle)];
        const width = 1.2 + thickness(scene.links.count[link] ?? 1, 0);
        arrow(context, ...ends, outgoing ? { colour: palette.accent, width } : { colour: palette.muted, width, alpha: 0.7 });
      }
      spot(middle);
    }
    for (let step = 1; step < focus.path.length; step += 1) {
      arrow(context, spot(focus.path[step - 1] ?? 0), spot(focus.path[step] ?? 0), { colour: palette.accent, width: 3 });
    }
    if (shown(focus.selected)) spot(focus.selected);
    const visible = [...drawn.values()].filter((each) => inView(each, projection));
    for (const each of visible) {
      this.drawSpot(context, moment, each);
      drawSigns(context, moment, each);
    }
    if (drawn.size > 1) {
      drawWords(context, moment, visible, free ?? new Room(projection.width, projection.height, visible), mostWordsFocused);
    }
    if (shown(focus.selected)) ring(context, spot(focus.selected), palette.accent, palette.ground);
  }
}

/** The links of what is in view; null where they are too many to be drawn one by one. */
function linksOf({ scene, look }: Moment, spots: Spot[]): number[] | null {
  const found = new Set<number>();
  for (const { place } of spots) {
    for (const group of [scene.links.out, scene.links.into]) {
      for (let i = group.from[place] ?? 0; i < (group.from[place + 1] ?? 0); i += 1) {
        const link = group.order[i] ?? 0;
        const source = scene.links.source[link] ?? 0;
        const target = scene.links.target[link] ?? 0;
        if (source !== target && look.shown[source] === 1 && look.shown[target] === 1) found.add(link);
      }
      if (found.size > mostLinks) return null;
    }
  }
  return [...found];
}

function drawLinks(context: Context, { scene, look, room, projection }: Moment, spots: Spot[], links: number[]): void {
  const known = new Map(spots.map((spot) => [spot.place, spot]));
  const at = (place: number) => known.get(place) ?? spotOf(scene, place, projection, room, 3, false);
  for (const link of links) {
    arrow(context, at(scene.links.source[link] ?? 0), at(scene.links.target[link] ?? 0), {
      colour: look.palette.link,
      width: thickness(scene.links.count[link] ?? 1, links.length),
      dashed: (scene.links.certain[link] ?? 1) < 0.5,
    });
  }
}

function drawSigns(context: Context, { scene, look }: Moment, spot: Spot): void {
  const { bad, good, ground } = look.palette;
  if ((scene.crashes[spot.place] ?? 0) > 0) sign(context, spot, "!", bad, ground, false);
  if (scene.start[spot.place] === 1) sign(context, spot, "▶", good, ground, true);
}

/** The name of each run above what is in view of it, where there are several; other words keep clear of it. */
function drawRuns(context: Context, { scene, look }: Moment, spots: Spot[], free: Room | null): void {
  if (scene.runs.length < 2) return;
  for (const [number, name] of scene.runs.entries()) {
    const own = spots.filter((spot) => scene.run[spot.place] === number);
    if (own.length === 0) continue;
    let [left, right, top] = [Infinity, -Infinity, Infinity];
    for (const { x, y, halfHeight } of own) {
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y - halfHeight);
    }
    const [text, middle, upper] = [line(name, 40), (left + right) / 2, Math.max(top - 34, 8)];
    const half = (text.length * letter) / 2 + 4;
    free?.take(middle - half, upper - 2, middle + half, upper + 18);
    words(context, text, middle, upper, look.palette, true);
  }
}

/** Words below states, those with the largest spots first. */
function drawWords(context: Context, { scene, look }: Moment, spots: Spot[], free: Room, most: number): void {
  const order = [...spots].sort((a, b) => b.halfWidth - a.halfWidth || a.place - b.place);
  // Commands take numbers, so the number leads.
  const wordsOf = ({ place }: Spot) => line(`${scene.id[place]} ${scene.title[place] ?? ""}`, 48);
  for (const { text, x, y } of placed(order, wordsOf, free, most)) words(context, text, x, y, look.palette);
}
