import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HttpSource } from "../src/api/source";
import { AGAIN, EVERY, Gone } from "../src/parts/Gone";

let place: HTMLElement;
let there: boolean;
let gone = false;

class Server extends HttpSource {
  override isThere(): Promise<boolean> {
    return Promise.resolve(there);
  }
}

async function after(...pauses: number[]): Promise<string> {
  for (const pause of pauses) {
    await act(async () => {
      await vi.advanceTimersByTimeAsync(pause);
    });
  }
  return place.textContent;
}

beforeEach(async () => {
  vi.useFakeTimers();
  there = true;
  place = document.createElement("div");
  document.body.append(place);
  await act(() => render(<Gone source={new Server()} onGone={(now) => (gone = now)} />, place));
});

afterEach(async () => {
  await act(() => render(null, place));
  place.remove();
  vi.useRealTimers();
});

test("a page says that its viewer has ended, and no longer once it answers again", async () => {
  expect(await after(EVERY, EVERY, EVERY)).toBe("");
  there = false;
  expect(await after(EVERY)).toBe("");
  expect(await after(AGAIN)).toContain("The viewer has ended");
  expect(gone).toBe(true);
  there = true;
  expect(await after(EVERY)).toBe("");
  expect(gone).toBe(false);
});
