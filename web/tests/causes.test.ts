// @vitest-environment node
import { expect, test } from "vitest";
import type { FindingInfo } from "../src/api/types";
import { causesOf, kindOf } from "../src/logic/causes";

const finding = (number: number, first: number, count: number) => ({ number, first, count, outcome: "crash" }) as FindingInfo;

test("findings of one number are one cause, told by its first time", () => {
  const causes = causesOf([finding(2, 50, 1), finding(1, 40, 2), finding(1, 10, 3), finding(1, 30, 1)]);
  expect(causes.map(({ number, count }) => [number, count])).toEqual([
    [1, 6],
    [2, 1],
  ]);
  expect(causes[0]!.oldest.first).toBe(10);
  expect(causes[0]!.others.map((each) => each.first)).toEqual([30, 40]);
});

test("a start that crashed is a crash", () => {
  expect(kindOf("start:crash")).toBe("crash");
  expect(kindOf("hang")).toBe("hang");
});
