/** Strokes of the map that are drawn in two dimensions: arrows, pictures, words. */

import { border, type Spot } from "./geometry";

export interface Colours {
  ground: string;
  surface: string;
  sunken: string;
  text: string;
  muted: string;
  link: string;
  /** Links from afar, where WebGL adds up what shines through. */
  far: string;
  accent: string;
  bad: string;
  good: string;
}

export interface ArrowStyle {
  colour: string;
  width: number;
  dashed?: boolean;
  alpha?: number;
}

/** A slightly bent arrow, so that there and back are two; from border to border of its ends. */
export function arrow(context: CanvasRenderingContext2D, from: Spot, to: Spot, style: ArrowStyle): void {
  const distance = Math.hypot(to.x - from.x, to.y - from.y);
  if (distance < from.halfHeight + to.halfHeight) return;
  const bend = Math.min(distance * 0.12, 26);
  const controlX = (from.x + to.x) / 2 + ((to.y - from.y) / distance) * bend;
  const controlY = (from.y + to.y) / 2 - ((to.x - from.x) / distance) * bend;
  const head = 4 + style.width * 1.8;
  const [startX, startY] = border(from, controlX, controlY, 1);
  const [tipX, tipY] = border(to, controlX, controlY, 2);
  const angle = Math.atan2(tipY - controlY, tipX - controlX);
  const endX = tipX - Math.cos(angle) * head;
  const endY = tipY - Math.sin(angle) * head;
  context.globalAlpha = style.alpha ?? 1;
  context.strokeStyle = style.colour;
  context.fillStyle = style.colour;
  context.lineWidth = style.width;
  context.setLineDash(style.dashed ? [4, 4] : []);
  context.beginPath();
  context.moveTo(startX, startY);
  context.quadraticCurveTo(controlX, controlY, endX, endY);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(tipX, tipY);
  context.lineTo(tipX - Math.cos(angle - 0.42) * head * 1.25, tipY - Math.sin(angle - 0.42) * head * 1.25);
  context.lineTo(tipX - Math.cos(angle + 0.42) * head * 1.25, tipY - Math.sin(angle + 0.42) * head * 1.25);
  context.fill();
  context.globalAlpha = 1;
}

/** A state: its picture in a frame of its colour, or a disc. A picture that is not there yet is a plate. */
export function state(
  context: CanvasRenderingContext2D, spot: Spot, colour: string, picture: HTMLImageElement | null, colours: Colours,
): void {
  const { x, y, halfWidth, halfHeight } = spot;
  if (!spot.pictured) {
    context.fillStyle = colour;
    context.beginPath();
    context.arc(x, y, halfWidth, 0, 2 * Math.PI);
    context.fill();
    return;
  }
  const frame = halfWidth > 40 ? 3 : halfWidth > 20 ? 2.5 : 2;
  context.fillStyle = colour;
  rounded(context, x - halfWidth, y - halfHeight, halfWidth * 2, halfHeight * 2, frame + 1.5);
  context.fill();
  const left = x - halfWidth + frame;
  const top = y - halfHeight + frame;
  const width = (halfWidth - frame) * 2;
  const height = (halfHeight - frame) * 2;
  context.fillStyle = colours.sunken;
  context.fillRect(left, top, width, height);
  if (picture && picture.naturalWidth > 0) {
    // Whole, not cut: a tall picture leaves bars at its sides.
    const scale = Math.min(width / picture.naturalWidth, height / picture.naturalHeight);
    const drawnWidth = picture.naturalWidth * scale;
    const drawnHeight = picture.naturalHeight * scale;
    context.drawImage(picture, left + (width - drawnWidth) / 2, top + (height - drawnHeight) / 2, drawnWidth, drawnHeight);
  }
}

export function ring(context: CanvasRenderingContext2D, spot: Spot, colour: string, ground: string): void {
  for (const [grow, width, stroke] of [[3.5, 5, ground], [3, 3, colour]] as const) {
    context.strokeStyle = stroke;
    context.lineWidth = width;
    if (spot.pictured) {
      rounded(
        context, spot.x - spot.halfWidth - grow, spot.y - spot.halfHeight - grow,
        (spot.halfWidth + grow) * 2, (spot.halfHeight + grow) * 2, 6,
      );
    } else {
      context.beginPath();
      context.arc(spot.x, spot.y, spot.halfWidth + grow, 0, 2 * Math.PI);
    }
    context.stroke();
  }
}

/** A small sign at the upper right of a state: `!` for failures, `▶` for a start. */
export function sign(
  context: CanvasRenderingContext2D, spot: Spot, mark: string, colour: string, ground: string, left: boolean,
): void {
  const size = spot.halfWidth > 24 ? 8 : Math.min(Math.max(spot.halfWidth * 0.7, 2), 5.5);
  const x = spot.x + (left ? -1 : 1) * spot.halfWidth * (spot.pictured ? 1 : 0.75);
  const y = spot.y - spot.halfHeight * (spot.pictured ? 1 : 0.75);
  context.fillStyle = colour;
  context.strokeStyle = ground;
  context.lineWidth = size > 4 ? 1.5 : 0.5;
  context.beginPath();
  context.arc(x, y, size, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
  if (size < 4) return;
  context.fillStyle = ground;
  // In whole pixels: each new size of letters is made ready first, in every frame of a zoom.
  context.font = `bold ${Math.round(size * 1.5)}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(mark, x, y + 0.5);
}

/** One line of words below a state, with a halo of the ground so that it reads over arrows. */
export function words(
  context: CanvasRenderingContext2D, text: string, x: number, y: number, colours: Colours, strong = false,
): void {
  context.font = `${strong ? "600 12.5px" : "11.5px"} system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineJoin = "round";
  context.strokeStyle = colours.ground;
  context.lineWidth = 3.5;
  context.strokeText(text, x, y);
  context.fillStyle = strong ? colours.text : colours.muted;
  context.fillText(text, x, y);
}

/** Pixels that a letter is wide, about. */
export const letter = 6.3;

/** As many letters as fit in so many pixels, about. */
export function fitting(text: string, pixels: number): string {
  const letters = Math.floor(pixels / letter);
  if (text.length <= letters) return text;
  return letters < 4 ? "" : `${text.slice(0, letters - 1)}…`;
}

function rounded(
  context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, corner: number,
): void {
  context.beginPath();
  context.roundRect(x, y, width, height, corner);
}
