import { describe, expect, it } from "vitest";
import { compact, count, duration, line, plural, share, worded } from "../src/format";

describe("numbers", () => {
  it.each([[0, "0 %"], [0.004, "<1 %"], [0.6, "60 %"], [0.996, ">99 %"], [1, "100 %"]])("share %s is %s", (value, words) => {
    expect(share(value)).toBe(words);
  });
  it.each([[0.0008, "0.8 ms"], [0.25, "250 ms"], [3.21, "3.2 s"], [200, "3 min 20 s"], [7500, "2 h 5 min"]])("%s seconds are %s", (value, words) => {
    expect(duration(value)).toBe(words);
  });
  it("are grouped, shortened and counted", () => {
    expect([count(30000), compact(30000), compact(9999), plural(1, "state"), plural(2, "state")]).toEqual(["30,000", "30K", "9,999", "1 state", "2 states"]);
  });
});

it("names of settings are words", () => {
  expect(worded("display_mode")).toBe("display mode");
});

describe("a line of an application's text", () => {
  it("has no control characters, no change of direction, and an end", () => {
    expect(line("a\u0000b\u202Ec\n\td")).toBe("a b c d");
    expect(line("x".repeat(1e6), 10)).toBe(`${"x".repeat(9)}…`);
  });
  it("is not cut within a character", () => {
    expect(line("😀".repeat(5), 3)).toBe("😀😀…");
  });
});
