// @vitest-environment node
import { expect, test } from "vitest";
import type { RunInfo } from "../src/api/types";
import { namesOf } from "../src/parts/Header";
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
