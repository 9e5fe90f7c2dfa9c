// @vitest-environment node
import { expect, test } from "vitest";
import type { RunInfo } from "../src/api/types";
import { companionOf, namesOf } from "../src/parts/Header";
import { parse } from "../src/router";

const runs = ["first", "second"].map((run) => ({ run })) as RunInfo[];

test("an address asks for the runs that it names, also for one that is not shown", () => {
  expect(namesOf(parse("#/map/nosuch"), runs)).toEqual(["nosuch"]);
  expect(namesOf(parse("#/map/second,nosuch,second"), runs)).toEqual(["second", "nosuch"]);
});

test("an address without a run is about the first", () => {
  expect(namesOf(parse("#/map"), runs)).toEqual(["first"]);
  expect(namesOf(parse("#/map"), [])).toEqual([]);
});

test("a run is compared with another of its application before any other", () => {
  const several = [
    { run: "a1", application: "a" }, { run: "b1", application: "b" }, { run: "a2", application: "a" },
  ] as RunInfo[];
  expect(companionOf("a1", several)?.run).toBe("a2");
  expect(companionOf("b1", several)?.run).toBe("a1");
  expect(companionOf("a1", several.slice(0, 1))).toBeUndefined();
});
