/** One of two screens, with the elements coloured by whether the other has their atoms. */

import { useMemo, useState } from "preact/hooks";
import type { ScreenSide } from "../../api/types";
import { atomSets, standing } from "../../logic/atoms";
import { drawn } from "../../logic/overlay";
import { ElementDetails } from "../../parts/ElementDetails";
import { Said } from "../../parts/Said";
import { Screen } from "../../parts/Screen";
import { href } from "../../router";

export type View = "differs" | "atoms" | "none";

export const VIEWS: readonly { key: View; words: string }[] = [
  { key: "differs", words: "That differ" },
  { key: "atoms", words: "All that count" },
  { key: "none", words: "None" },
];

export interface SideProps {
  run: string;
  side: ScreenSide;
  other: ScreenSide;
  which: "first" | "second";
  view: View;
  /** The atom that is pointed at in the lists. */
  atom: string | null;
  onAtom: (atom: string | null) => void;
}

export function Side({ run, side, other, which, view, atom, onAtom }: SideProps) {
  const [active, setActive] = useState<number | null>(null);
  const others = useMemo(() => atomSets(other.elements), [other]);
  const standings = useMemo(() => side.elements.map((each) => standing(each, others)), [side, others]);
  const carries = (index: number) =>
    atom !== null && (side.elements[index]?.role_atom === atom || side.elements[index]?.text_atom === atom);
  const placed = useMemo(
    () =>
      drawn(side.elements, "atoms").filter(
        ({ index }) => carries(index) || view === "atoms" || (view === "differs" && standings[index] === "differs"),
      ),
    [side, standings, view, atom],
  );
  const element = active === null ? null : (side.elements[active] ?? null);
  return (
    <figure class={`side side-${which}`}>
      <figcaption>
        <strong>{side.name}</strong>{" "}
        {side.state === null ? null : <a href={href("state", [run, side.state])}>state {side.state}</a>}{" "}
        <Said text={side.title} longest={80} />
      </figcaption>
      <Screen
        alt={`Screen ${side.name}`}
        label={`Elements of ${side.name}`}
        picture={side.picture}
        elements={side.elements}
        window={side.window_box}
        placed={placed}
        active={active}
        onActive={(index) => {
          setActive(index);
          onAtom(null);
        }}
        tone={(_element, index) =>
          carries(index) ? "carries" : standings[index] === "differs" ? `only-${which}` : "shared"
        }
      />
      {element && (
        <div class="panel">
          <ElementDetails element={element} />
        </div>
      )}
    </figure>
  );
}
