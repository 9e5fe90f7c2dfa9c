import { afterEach, expect, test } from "vitest";
import { isForMap } from "../src/parts/Keys";

afterEach(() => document.body.replaceChildren());

/** Whether a key pressed in the first element of some markup is for the map. */
function pressed(markup: string, key: string, more: KeyboardEventInit = {}): boolean {
  document.body.innerHTML = markup;
  let answer = false;
  const listen = (event: KeyboardEvent) => {
    answer = isForMap(event);
  };
  addEventListener("keydown", listen);
  const target = document.querySelector("[data-here]") ?? document.body;
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
  removeEventListener("keydown", listen);
  return answer;
}

test("keys are for the map wherever no field has the focus", () => {
  for (const key of ["n", "+", "Enter", "ArrowLeft"]) expect(pressed("", key)).toBe(true);
  expect(pressed("<button data-here>+</button>", "n")).toBe(true);
  expect(pressed("<button data-here>+</button>", "ArrowLeft")).toBe(true);
});

test("what is typed into a field is not for the map", () => {
  for (const field of ["<input data-here>", "<select data-here></select>"]) expect(pressed(field, "n")).toBe(false);
  expect(pressed("", "n", { ctrlKey: true })).toBe(false);
});

test("a link keeps its Enter, a panel its arrows, a dialog all keys", () => {
  expect(pressed("<a data-here href='#'>x</a>", "Enter")).toBe(false);
  expect(pressed("<aside class='side-panel'><a data-here href='#'>x</a></aside>", "ArrowDown")).toBe(false);
  expect(pressed("<dialog open><p data-here>x</p></dialog>", "n")).toBe(false);
});
