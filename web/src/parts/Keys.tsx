/** Keys that work on every page, and the list of all keys. */

import { useEffect, useRef } from "preact/hooks";

const keys: [string, string][] = [
  ["/", "search screens"],
  ["?", "show these keys"],
  ["Tab", "to the next control"],
  ["Enter", "open what is focused or selected"],
  ["Escape", "close, or select nothing"],
];

const mapKeys: [string, string][] = [
  ["← ↑ → ↓", "move the map"],
  ["+  −", "zoom the map"],
  ["0", "show the whole map"],
  ["n  p", "select the next or previous state"],
];

/** True where letters are text and not commands. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/**
 * True where a key is for the map: no field has the focus, no dialog is open, and nothing that is focused has a use
 * of its own for it (Enter of a link, the arrows of a list that scrolls).
 */
export function isForMap(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return false;
  if (document.querySelector("dialog[open]")) return false;
  if (!(event.target instanceof HTMLElement)) return true;
  if (event.key === "Enter") return event.target.closest("a, button, summary") === null;
  if (event.key.startsWith("Arrow")) return event.target.closest(".side-panel") === null;
  return true;
}

export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "?") {
        event.preventDefault();
        dialog.current?.showModal();
      } else if (event.key === "/") {
        event.preventDefault();
        dispatchEvent(new Event("screensearch-search"));
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <List keys={keys} />
      <h3>On the map, unless a field has the focus</h3>
      <List keys={mapKeys} />
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}

function List({ keys: listed }: { keys: [string, string][] }) {
  return (
    <dl>
      {listed.map(([key, words]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  );
}
