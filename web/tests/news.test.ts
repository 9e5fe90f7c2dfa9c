// @vitest-environment node
import { expect, test } from "vitest";
import type { Live, RunInfo } from "../src/api/types";
import { caughtUp, goesOn, withNews } from "../src/logic/news";

const run = (sequence: number, live: boolean) => ({ run: "demo", sequence, live }) as RunInfo;
const event = (sequence: number, live: boolean): Live => ({ run: "demo", sequence, live, states: 1, edges: 1 });
const news = (sequence: number, live: boolean) => new Map([["demo", event(sequence, live)]]);

test("the events of a run are listened to until one says that it ended, whatever its figures said before", () => {
  expect(goesOn([run(5, true)], new Map())).toBe(true);
  expect(goesOn([run(9, false)], news(7, true))).toBe(true);
  expect(goesOn([run(9, false)], news(9, false))).toBe(false);
  expect(goesOn([run(9, false)], new Map())).toBe(false);
});

test("figures that are ahead of the last event are news too", () => {
  expect(caughtUp(news(7, false), [run(9, false)]).get("demo")).toEqual(event(9, false));
  const known = news(9, true);
  expect(caughtUp(known, [run(7, true)])).toBe(known);
  expect(caughtUp(new Map(), [run(7, true)]).size).toBe(0);
});

test("a run is as far as the later of both says", () => {
  expect(withNews(run(9, true), event(7, false))).toMatchObject({ sequence: 9, live: false });
  expect(withNews(run(5, false), event(7, true))).toMatchObject({ sequence: 7, live: true });
  expect(withNews(run(5, true), undefined)).toMatchObject({ sequence: 5, live: true });
});
