// @vitest-environment node
import { expect, test } from "vitest";
import { latencyBars, lengthBars, thinned } from "../src/logic/quantities";
import { commandLine, quoted } from "../src/logic/shell";

test("a histogram leaves out what is empty before and after, and not in between", () => {
  const latency = { p50: 0, p90: 0, p99: 0, bounds: [0.001, 0.002, 0.004, 0.008], counts: [0, 5, 0, 2, 0] };
  expect(latencyBars(latency)).toEqual([
    { label: "≤ 2.0 ms", count: 5 },
    { label: "≤ 4.0 ms", count: 0 },
    { label: "≤ 8.0 ms", count: 2 },
  ]);
  expect(latencyBars({ ...latency, counts: [0, 0] })).toEqual([]);
});

test("what took longer than the last bound is said to", () => {
  expect(latencyBars({ p50: 0, p90: 0, p99: 0, bounds: [1], counts: [0, 3] })).toEqual([{ label: "longer", count: 3 }]);
});

test("lengths of episodes are grouped without losing one", () => {
  const lengths = Object.fromEntries(Array.from({ length: 95 }, (_, place) => [String(place + 5), place]));
  const bars = lengthBars(lengths, 10);
  expect(bars.length).toBeLessThanOrEqual(10);
  expect(bars.reduce((sum, bar) => sum + bar.count, 0)).toBe(Object.values(lengths).reduce((sum, each) => sum + each, 0));
  expect(bars[0]!.label.startsWith("5–")).toBe(true);
  expect(lengthBars({ "3": 2 })).toEqual([{ label: "3", count: 2 }]);
});

test("a long course is thinned to its ends and some between", () => {
  const rows = thinned(1000, 5);
  expect(rows).toEqual([0, 250, 500, 749, 999]);
  expect(thinned(3)).toEqual([0, 1, 2]);
  expect(thinned(0)).toEqual([]);
});

test("a word for the shell is quoted when it must be", () => {
  expect(quoted("runs/demo-1")).toBe("runs/demo-1");
  expect(quoted("my run")).toBe("'my run'");
  expect(quoted("it's; rm -r $HOME")).toBe(`'it'"'"'s; rm -r $HOME'`);
  expect(quoted("")).toBe("''");
  expect(commandLine("replay", "my run", 3)).toBe("screensearch replay 'my run' 3");
});
