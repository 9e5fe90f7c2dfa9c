// @vitest-environment node
import { afterEach, expect, test, vi } from "vitest";
import { HttpSource } from "../src/api/source";

const lost = () => Promise.reject(new TypeError("network changed"));

function answering(...answers: (() => Promise<Response>)[]) {
  const fetched = vi.fn(() => (answers.shift() ?? lost)());
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

test("a question that was dropped on its way is asked once more", async () => {
  const fetched = answering(lost, () => Promise.resolve(Response.json({ runs: [] })));
  expect(await new HttpSource().runs()).toEqual({ runs: [] });
  expect(fetched).toHaveBeenCalledTimes(2);
});

test("where nobody answers twice, that is said", async () => {
  const fetched = answering();
  await expect(new HttpSource().runs()).rejects.toThrow("The viewer does not answer");
  expect(fetched).toHaveBeenCalledTimes(2);
});

test("a question that nobody waits for any more is not asked again", async () => {
  const control = new AbortController();
  const fetched = answering(() => {
    control.abort();
    return lost();
  });
  await expect(new HttpSource().runs(control.signal)).rejects.toThrow("network changed");
  expect(fetched).toHaveBeenCalledTimes(1);
});
