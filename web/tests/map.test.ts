import { describe, expect, it } from "vitest";
import type { Map as StateMap } from "../src/api/types";
import { isFiltering, noFilters, readFilters, visible } from "../src/map/filters";
import { aspect, border, pictureWidth, projected, spotAt, spotOf, type Projection, type Spot } from "../src/map/geometry";
import { changes } from "../src/map/look";
import type { Look } from "../src/map/overlay";
import { farLinks, freeRoom, makeScene, neighbours, placeOf, runOf, wordOf } from "../src/map/scene";
import { curve, times } from "../src/map/Timeline";
import { sorted } from "../src/pages/StatesPage";
import { href, parse } from "../src/router";

function map(run: string, more: Partial<StateMap["states"]> = {}): StateMap {
  return {
    run, sequence: 100, applications: ["pad"], display_modes: ["dark", "light"], text_sizes: ["100"], windows: ["main", "menu"],
    states: {
      id: [0, 1, 2], x: [0, 1, 0], y: [0, 0, 1], depth: [0, 1, -1], visits: [9, 1, 4], ambiguity: [0, 0.5, 1],
      first_seen: [0, 10, 90], seconds: [0, 1, 9], application: [0, 0, 0], display_mode: [0, 1, 1], text_size: [0, 0, 0],
      window: [0, 1, 0], title: ["start", "menu", "<b>"], crashes: [0, 2, 0], start: [true, false, false],
      picture: [true, true, false], ...more,
    },
    links: { source: [0, 1, 0, 2], target: [1, 0, 2, 2], count: [5, 1, 9, 3], actions: [1, 1, 1, 1], certain: [1, 0.4, 1, 1] },
  };
}

const asked = (query: Parameters<typeof href>[2]) => readFilters(parse(href("map", ["a"], query)).query);

describe("a scene", () => {
  it("of two runs has both side by side, with one list of words", () => {
    const other = { ...map("b"), windows: ["menu", "dialog"] };
    const scene = makeScene([map("a"), other]);
    expect(Math.min(...scene.x.slice(3))).toBeGreaterThan(Math.max(...scene.x.slice(0, 3)));
    expect(scene.words.window.names).toEqual(["main", "menu", "dialog"]);
    expect([0, 1, 3, 4].map((place) => wordOf(scene, "window", place))).toEqual(["main", "menu", "menu", "dialog"]);
    expect([...scene.links.source]).toEqual([0, 1, 0, 2, 3, 4, 3, 5]);
  });

  it("that is upright has runs below each other and is narrower", () => {
    const [wide, upright] = [makeScene([map("a"), map("b")]), makeScene([map("a"), map("b")], true)];
    expect(Math.max(...upright.y.slice(3))).toBeLessThan(Math.min(...upright.y.slice(0, 3)));
    expect(upright.x[4]).toBe(upright.x[1]);
    expect(upright.x[1]).toBeLessThan(wide.x[1] ?? 0);
  });

  it("finds the place of a state by run and number, also where numbers have gaps", () => {
    const scene = makeScene([map("a"), map("b", { id: [0, 7, 9] })]);
    expect([placeOf(scene, "a", 2), placeOf(scene, "b", 7), placeOf(scene, "b", 2), placeOf(scene, "c", 0)]).toEqual([2, 4, -1, -1]);
    expect(runOf(scene, 4)).toBe("b");
  });

  it("knows the neighbours of a place both ways, without itself, the most frequent first if they are many", () => {
    const scene = makeScene([map("a")]);
    expect(neighbours(scene, 0)).toEqual([[1, 0, true], [2, 2, true], [1, 1, false]]);
    expect(neighbours(scene, 2)).toEqual([[0, 2, false]]);
    expect(neighbours(scene, 0, 1)).toEqual([[2, 2, true], [1, 1, false]]);
  });

  it("from afar has the most frequent links between two states", () => {
    const scene = makeScene([map("a")]);
    expect(farLinks(scene)).toEqual([0, 1, 2]);
    expect(farLinks(scene, 2)).toEqual([2, 0]);
  });

  it("gives pictures room so that none covers another", () => {
    let seed = 1;
    const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
    const many = Array.from({ length: 300 }, () => 0);
    const scene = makeScene([map("a")]);
    const scattered = { ...scene, size: 300, x: Float64Array.from(many, () => random() * 90), y: Float64Array.from(many, () => random() * 40) };
    const room = freeRoom(scattered);
    const covering: [number, number][] = [];
    for (let a = 0; a < 300; a += 1) {
      for (let b = 0; b < a; b += 1) {
        const across = Math.abs((scattered.x[a] ?? 0) - (scattered.x[b] ?? 0));
        const down = Math.abs((scattered.y[a] ?? 0) - (scattered.y[b] ?? 0));
        const half = ((room[a] ?? 0) + (room[b] ?? 0)) / 2;
        if (across < half - 1e-9 && down < half * aspect - 1e-9) covering.push([a, b]);
      }
    }
    expect(covering).toEqual([]);
  });

  it("without states has none of anything", () => {
    expect(makeScene([]).size).toBe(0);
    expect(freeRoom(makeScene([])).length).toBe(0);
  });
});

describe("filters", () => {
  const scene = makeScene([map("a")]);

  it.each([
    [{}, [1, 1, 1]],
    [{ mode: "light" }, [0, 1, 1]],
    [{ window: "main", mode: "light" }, [0, 0, 1]],
    [{ window: "no such window" }, [0, 0, 0]],
    [{ from: 1 }, [0, 1, 1]],
    [{ from: 10, to: 89 }, [0, 1, 0]],
    [{ u: 0.5 }, [0, 1, 1]],
    [{ failed: true }, [0, 1, 0]],
    [{ from: "nonsense", to: "-5", u: "NaN" }, [1, 1, 1]],
  ])("%j shows %j", (query, shown) => {
    expect([...visible(scene, asked(query))]).toEqual(shown);
  });

  it("show one run of several", () => {
    const both = makeScene([map("a"), map("b")]);
    expect([...visible(both, asked({ run: "b" }))]).toEqual([0, 0, 0, 1, 1, 1]);
  });

  it("are off when nothing is asked for, and can be cleared", () => {
    expect(isFiltering(asked({}))).toBe(false);
    expect(isFiltering(asked({ u: 0.1 }))).toBe(true);
    expect(isFiltering(asked(Object.assign({ mode: "x", from: 1, failed: true }, noFilters)))).toBe(false);
  });
});

describe("another look", () => {
  const scene = makeScene([map("a")]);
  const look = (shown: number[], colours = ["red", "red", "red"], far = "grey") =>
    ({ shown: Uint8Array.from(shown), colours, palette: { far } }) as unknown as Look;
  const before = look([1, 1, 1]);

  it.each([
    ["of the same", look([1, 1, 1]), [], []],
    ["without a state takes its links along", look([1, 0, 1]), [1], [0, 1]],
    ["in another colour leaves links alone", look([1, 1, 1], ["red", "blue", "red"]), [1], []],
    ["on another ground is one of all links", look([1, 1, 1], ["red", "red", "red"], "white"), [], [0, 1, 2]],
  ])("%s", (_name, after, places, links) => {
    expect(changes(scene, farLinks(scene), before, after)).toEqual({ places, links });
    expect(changes(scene, farLinks(scene), after, before)).toEqual({ places, links });
  });
});

describe("geometry", () => {
  const projection: Projection = { scaleX: 2, shiftX: 10, scaleY: -2, shiftY: 20, width: 100, height: 100 };
  const disc: Spot = { place: 0, x: 50, y: 50, halfWidth: 5, halfHeight: 5, pictured: false };
  const picture: Spot = { place: 1, x: 50, y: 50, halfWidth: 30, halfHeight: 20, pictured: true };

  it("projects the layout with y upwards", () => {
    expect(projected(projection, 5, 5)).toEqual([20, 10]);
  });

  it("writes a spot into one that was another, and nothing of that is left", () => {
    const scene = makeScene([map("a")]);
    const room = Float64Array.of(20, 20, 20);
    for (const place of [0, 1, 2]) {
      const used = { ...picture };
      expect(spotOf(scene, place, projection, room, 3, true, used)).toBe(used);
      expect(used).toEqual(spotOf(scene, place, projection, room, 3, true));
    }
  });

  it("ends arrows at the border of discs and of pictures", () => {
    expect(border(disc, 100, 50)).toEqual([55, 50]);
    expect(border(picture, 100, 50)).toEqual([80, 50]);
    expect(border(picture, 50, 0, 2)).toEqual([50, 28]);
  });

  it("finds what is under a point: the nearest", () => {
    expect(spotAt([disc, picture], 78, 68)?.place).toBe(1);
    expect(spotAt([{ ...disc, x: 52 }, picture], 53, 50)?.place).toBe(0);
    expect(spotAt([disc], 70, 50)).toBeNull();
    expect(spotAt([disc], 58.5, 50)?.place).toBe(0);
    expect(spotAt([disc], 57, 57)).toBeNull();
    expect(spotAt([picture], 81, 50)).toBeNull();
  });

  it("gives more visited states a larger picture, within their room", () => {
    expect(pictureWidth(20, 100, projection)).toBeGreaterThan(pictureWidth(20, 1, projection));
    expect(pictureWidth(20, 1e9, projection)).toBeLessThanOrEqual(40);
  });
});

describe("the table of states", () => {
  const scene = makeScene([map("a")]);
  it.each([
    ["visits", false, [0, 2, 1]],
    ["visits", true, [1, 2, 0]],
    ["title", false, [2, 1, 0]],
    ["id", false, [0, 1, 2]],
    ["id", true, [2, 1, 0]],
    ["no such column", false, [0, 1, 2]],
  ])("sorts by %s, backwards %s", (name, backwards, places) => {
    expect(sorted(scene, [0, 1, 2], name, backwards)).toEqual(places);
  });
});

describe("the time of a span", () => {
  const scene = { firstSeen: Int32Array.of(1, 50, 20), seconds: Float64Array.of(0.5, 12, 4) };
  it("is that of the first and the last state that were discovered in it", () => {
    expect(times(scene, 0, 100)).toEqual([0.5, 12]);
    expect(times(scene, 10, 30)).toEqual([4, 4]);
  });
  it("is none where nothing was discovered", () => expect(times(scene, 60, 100)).toBeNull());
});

describe("the curve of discovery", () => {
  it("rises to the right and ends at the top", () => {
    const points = curve([90, 0, 10], 100).split(" ").map((point) => point.split(",").map(Number));
    const xs = points.slice(0, -1).map(([x]) => x ?? 0);
    expect(xs).toEqual([...xs].sort((a, b) => a - b));
    expect(points.at(-2)).toEqual([600, 2]);
  });

  it("of nothing is flat and not broken", () => {
    expect(curve([], 0)).not.toContain("NaN");
  });
});
