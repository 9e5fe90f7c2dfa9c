import { afterEach, describe, expect, it } from "vitest";
import { amended, href, navigate, parse } from "../src/router";

afterEach(() => history.replaceState(null, "", "/"));

describe("an address", () => {
  it("names a page, its parts and a query", () => {
    const route = parse("#/map/a,b?state=3&u=0.5");
    expect([route.page, route.parts, route.query.get("state"), route.query.get("u")]).toEqual(["map", ["a,b"], "3", "0.5"]);
  });

  it("without anything is the start", () => {
    for (const hash of ["", "#", "#/", "#/?x=1"]) expect(parse(hash).page).toBe("");
  });

  it("reads back what was written, whatever characters are in it", () => {
    for (const part of ["a/b", "ü %", "?&#", "@345", "<script>", "‮rtl", "x,y"]) {
      const route = parse(href("state", [part, 12], { signature: part }));
      expect([route.parts, route.query.get("signature")]).toEqual([[part, "12"], part]);
    }
  });

  it("keeps commas and @ readable", () => {
    expect(href("explain", ["a,b", "@3"])).toBe("#/explain/a,b/@3");
  });

  it("that cannot be decoded is taken as it is", () => {
    expect(parse("#/state/%E0%A4%A").parts).toEqual(["%E0%A4%A"]);
  });

  it("leaves out what is not set, and keeps zero", () => {
    expect(href("map", ["r"], { a: null, b: undefined, c: "", d: false, e: 0, f: true })).toBe("#/map/r?e=0&f=1");
  });

  it("is amended without losing the rest", () => {
    expect(amended(parse("#/map/r?state=3&u=0.5"), { u: null, path: true })).toBe("#/map/r?state=3&path=1");
  });
});

describe("going to an address", () => {
  it("leaves a step to go back to, unless it replaces", () => {
    const before = history.length;
    navigate("#/map/a");
    expect([location.hash, history.length]).toEqual(["#/map/a", before + 1]);
    navigate("#/map/a?x=1", { replace: true });
    expect([location.hash, history.length]).toEqual(["#/map/a?x=1", before + 1]);
  });
});
