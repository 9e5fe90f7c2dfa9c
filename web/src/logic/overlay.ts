/** Which elements are drawn over a picture, in which order, and how one moves between them. */

import type { ElementInfo, Rectangle } from "../api/types";

export type Shown = "all" | "clickable" | "actions" | "atoms" | "none";

/** What a person can choose to see, in the order of the switch. */
export const SHOWN: readonly { key: Shown; words: string }[] = [
  { key: "all", words: "All" },
  { key: "clickable", words: "Clickable" },
  { key: "actions", words: "With actions" },
  { key: "atoms", words: "With atoms" },
  { key: "none", words: "None" },
];

export interface Placed {
  /** Its place in the list of elements. */
  index: number;
  element: ElementInfo;
}

/** The elements to draw, the largest first, so that a small one lies on top of what is around it. */
export function drawn(elements: readonly ElementInfo[], shown: Shown): Placed[] {
  return elements
    .map((element, index) => ({ index, element }))
    .filter(({ element }) => element.box[2] > 0 && element.box[3] > 0 && belongs(element, shown))
    .sort((a, b) => area(b.element.box) - area(a.element.box) || a.index - b.index);
}

function belongs(element: ElementInfo, shown: Shown): boolean {
  switch (shown) {
    case "all":
      return true;
    case "clickable":
      return element.clickable || element.editable;
    case "actions":
      return element.signatures.length > 0;
    case "atoms":
      return element.role_atom !== null || element.text_atom !== null;
    case "none":
      return false;
  }
}

function area(box: Rectangle): number {
  return box[2] * box[3];
}

/** The elements in the order that one reads a screen: by rows of some height, then from the left. */
export function readingOrder(placed: readonly Placed[]): Placed[] {
  const row = (each: Placed) => Math.round((each.element.box[1] + each.element.box[3] / 2) / 12);
  return [...placed].sort((a, b) => row(a) - row(b) || a.element.box[0] - b.element.box[0]);
}

/** How much room a screen takes that has no picture. */
export function extent(elements: readonly ElementInfo[], window: Rectangle | null): [number, number] {
  const boxes = [...elements.map((each) => each.box), ...(window ? [window] : [])];
  const width = Math.max(0, ...boxes.map((box) => box[0] + box[2]));
  const height = Math.max(0, ...boxes.map((box) => box[1] + box[3]));
  return width > 0 && height > 0 ? [Math.ceil(width), Math.ceil(height)] : [1024, 768];
}
