/** What is known of an element. */

import type { ElementInfo } from "../api/types";
import { Said } from "./Said";
import { Facts } from "./tables";

export interface ElementDetailsProps {
  element: ElementInfo | null;
  /** The actions that were tried at its state, in words. */
  words?: ReadonlyMap<string, string>;
  onAction?: (signature: string) => void;
}

export function ElementDetails({ element, words, onAction }: ElementDetailsProps) {
  if (element === null) {
    return <p class="muted">Point at an element, or walk through them with the arrow keys, to see what it is.</p>;
  }
  const flags = (["clickable", "editable", "focused", "checked", "secret"] as const).filter((name) => element[name]);
  return (
    <div class="element-details">
      <p class="element-name">
        <span class="badge">{element.role}</span> <Said text={element.text} longest={300} none="without text" />
      </p>
      <Facts
        facts={[
          ...(element.value ? [["value", <Said text={element.value} longest={300} />] as const] : []),
          ["is", [...flags, ...(element.enabled ? [] : ["disabled"])].join(", ") || "nothing one can use"],
          ["at", `${element.box.map((each) => Math.round(each)).join(", ")} px`],
          ["role atom", <Atom atom={element.role_atom} />],
          ["text atom", <Atom atom={element.text_atom} />],
        ]}
      />
      {element.signatures.length > 0 && (
        <>
          <p class="label">Tried on it</p>
          <ul class="bare">
            {element.signatures.map((signature) => (
              <li key={signature}>
                {onAction ? (
                  <button type="button" class="as-link" onClick={() => onAction(signature)}>
                    <Said text={words?.get(signature) ?? signature} />
                  </button>
                ) : (
                  <Said text={words?.get(signature) ?? signature} />
                )}
                <code class="signature">
                  <Said text={signature} longest={200} />
                </code>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function Atom({ atom }: { atom: string | null }) {
  return atom === null ? (
    <span class="muted">does not count</span>
  ) : (
    <code>
      <Said text={atom} longest={160} />
    </code>
  );
}
