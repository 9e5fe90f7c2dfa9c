/** Two screens as atoms: which they share, which only one has, and which elements carry them. */

import type { ElementInfo, Explanation } from "../api/types";

export type Side = "shared" | "first" | "second";

export interface Atom {
  atom: string;
  cell: string;
  what: string;
  /** What kind it counts as; one text can be both. */
  kinds: ("role" | "text")[];
  side: Side;
}

/** Every atom of an explanation, those that differ first. */
export function atomsOf(explanation: Explanation): Atom[] {
  const elements = [...explanation.first.elements, ...explanation.second.elements];
  const roles = new Set(elements.map((each) => each.role_atom));
  const texts = new Set(elements.map((each) => each.text_atom));
  const listed = (atoms: readonly string[], side: Side): Atom[] =>
    atoms.map((atom) => {
      const [cell, what] = split(atom);
      const kinds: ("role" | "text")[] = [];
      if (roles.has(atom)) kinds.push("role");
      if (texts.has(atom)) kinds.push("text");
      return { atom, cell, what, kinds, side };
    });
  return [
    ...listed(explanation.only_first, "first"),
    ...listed(explanation.only_second, "second"),
    ...listed(explanation.shared, "shared"),
  ];
}

/** The cell of the grid, and the role or the text. */
export function split(atom: string): [string, string] {
  const at = atom.indexOf("|");
  return at < 0 ? ["", atom] : [atom.slice(0, at), atom.slice(at + 1)];
}

export type Standing = "differs" | "shared" | "silent";

/** How an element stands in the comparison, given all atoms of the other screen. */
export function standing(element: ElementInfo, other: AtomSets): Standing {
  if (element.role_atom === null && element.text_atom === null) return "silent";
  const lost =
    (element.role_atom !== null && !other.roles.has(element.role_atom)) ||
    (element.text_atom !== null && !other.texts.has(element.text_atom));
  return lost ? "differs" : "shared";
}

export interface AtomSets {
  roles: Set<string>;
  texts: Set<string>;
}

/** The two sets of atoms that a screen is. */
export function atomSets(elements: readonly ElementInfo[]): AtomSets {
  const present = (atom: string | null): atom is string => atom !== null;
  return {
    roles: new Set(elements.map((each) => each.role_atom).filter(present)),
    texts: new Set(elements.map((each) => each.text_atom).filter(present)),
  };
}

/** A name as people type it for one of two screens: 12, @345; null when it is neither. */
export function screenName(typed: string): string | null {
  const name = typed.trim();
  return /^@?\d+$/u.test(name) ? name : null;
}
