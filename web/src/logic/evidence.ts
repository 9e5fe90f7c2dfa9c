/** What a comparison of two runs is evidence for, and what one of them merely did not see. */

import type { Difference, EdgeChange, StateBrief } from "../api/types";
import { plural } from "../format";

/** A state of one run, and how often the other did what leads there. */
export interface Seen {
  state: StateBrief;
  tried: number;
}

export interface Only {
  states: Seen[];
  edges: EdgeChange[];
}

export interface Evidence {
  /** Of the first run: the second did what always led there, and came elsewhere. */
  gone: Only;
  /** Of the second run: the first did what always leads there, and came elsewhere. */
  fresh: Only;
  /** Of each run: the other never, or too seldom, did what leads there. */
  unseen: { first: Only; second: Only };
}

export function byEvidence(difference: Difference): Evidence {
  const lost = parted(difference.lost, difference.lost_tried, difference.lost_gone, difference.lost_edges);
  const gained = parted(difference.gained, difference.gained_tried, difference.gained_new, difference.gained_edges);
  return { gone: lost.evident, fresh: gained.evident, unseen: { first: lost.merely, second: gained.merely } };
}

/** The whole comparison in a sentence. */
export function verdictOf(difference: Difference): string {
  const { gone, fresh, unseen } = byEvidence(difference);
  const changed = difference.changed.length;
  const found = [
    gone.states.length && `${plural(gone.states.length, "state")} gone`,
    fresh.states.length && `${plural(fresh.states.length, "state")} new`,
    gone.edges.length && `${plural(gone.edges.length, "edge")} gone`,
    fresh.edges.length && `${plural(fresh.edges.length, "edge")} new`,
    changed && `${plural(changed, "action")} with other outcomes`,
  ].filter(Boolean);
  if (found.length > 0) return `${difference.second} differs from ${difference.first}: ${found.join(", ")}.`;
  const both = [unseen.first, unseen.second];
  if (difference.matched === 0) {
    return `Nothing was compared: no screen of ${difference.second} is a state of ${difference.first}. Are they runs of the same application?`;
  }
  if (both.every(({ states, edges }) => states.length + edges.length === 0)) return "The two runs saw the same.";
  return `Nothing shows that ${difference.second} differs from ${difference.first}. Each saw some things that the other did not come to.`;
}

function parted(states: readonly StateBrief[], tried: readonly number[], evident: readonly boolean[], edges: readonly EdgeChange[]) {
  const seen = states.map((state, place) => ({ state, tried: tried[place] ?? 0, evident: evident[place] ?? false }));
  const those = (sure: boolean): Only => ({
    states: seen.filter((each) => each.evident === sure).map(({ state, tried: times }) => ({ state, tried: times })),
    edges: edges.filter((each) => each.gone === sure),
  });
  return { evident: those(true), merely: those(false) };
}
