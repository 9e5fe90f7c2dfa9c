/** The atoms of two screens; the one pointed at is marked on the pictures. */

import type { Atom } from "../../logic/atoms";
import { count } from "../../format";
import { Said } from "../../parts/Said";

export interface AtomListsProps {
  atoms: readonly Atom[];
  first: string;
  second: string;
  atom: string | null;
  onAtom: (atom: string | null) => void;
}

const MOST = 400;

export function AtomLists({ atoms, first, second, atom, onAtom }: AtomListsProps) {
  const of = (side: Atom["side"]) => atoms.filter((each) => each.side === side);
  const list = (listed: readonly Atom[]) => (
    <ul class="atoms">
      {listed.slice(0, MOST).map((each) => (
        <li key={each.atom}>
          <button
            type="button"
            class="atom"
            aria-pressed={each.atom === atom}
            onPointerEnter={() => onAtom(each.atom)}
            onFocus={() => onAtom(each.atom)}
            onClick={() => onAtom(each.atom)}
          >
            <code>{each.cell}</code> <Said text={each.what} longest={80} />{" "}
            <span class="muted small">{each.kinds.join(", ")}</span>
          </button>
        </li>
      ))}
      {listed.length > MOST && <li class="muted">and {count(listed.length - MOST)} more</li>}
    </ul>
  );
  const shared = of("shared");
  return (
    <section aria-labelledby="atoms-heading">
      <h2 id="atoms-heading">Atoms</h2>
      <div class="pair">
        <div class="side-first">
          <h3>
            Only in {first} <span class="muted">{count(of("first").length)}</span>
          </h3>
          {list(of("first"))}
        </div>
        <div class="side-second">
          <h3>
            Only in {second} <span class="muted">{count(of("second").length)}</span>
          </h3>
          {list(of("second"))}
        </div>
      </div>
      <details>
        <summary>Shared by both: {count(shared.length)}</summary>
        {list(shared)}
      </details>
    </section>
  );
}
