/** All states as a table: the map for those who do not see it, and for those who sort. */

import { useMemo } from "preact/hooks";
import type { Map as StateMap } from "../api/types";
import { FilterBar } from "../map/FilterBar";
import { readFilters, visible } from "../map/filters";
import { makeScene, runOf, wordOf, type Scene } from "../map/scene";
import { useMaps } from "../map/useMaps";
import { namesOf } from "../parts/Header";
import { Thumbnail } from "../parts/Picture";
import { Empty, Show } from "../parts/states";
import { useTitle } from "../parts/title";
import { count, decimal, line } from "../format";
import { amended, href, navigate, type Route } from "../router";
import { useViewer } from "../viewer";

export function StatesPage({ route }: { route: Route }) {
  const { runs } = useViewer();
  const names = namesOf(route, runs);
  useTitle("States", names.join(", "));
  const answer = useMaps(names);
  if (names.length === 0) return <Empty title="There is no run to show" />;
  return (
    <Show answer={answer} what="Reading the states">
      {(maps) => <All route={route} maps={maps} />}
    </Show>
  );
}

function All({ route, maps }: { route: Route; maps: StateMap[] }) {
  const scene = useMemo(() => makeScene(maps), [maps]);
  return (
    <>
      <h1>States</h1>
      <StatesTable route={route} scene={scene} />
    </>
  );
}

const onePage = 100;

interface Column {
  name: string;
  title: string;
  number?: boolean;
  /** What it is sorted by; most first where it is a number. */
  by: (scene: Scene, place: number) => number | string;
}

const columns: Column[] = [
  { name: "id", title: "State", by: (scene, place) => -(scene.id[place] ?? 0) },
  { name: "title", title: "Words", by: (scene, place) => scene.title[place] ?? "" },
  { name: "window", title: "Window", by: (scene, place) => wordOf(scene, "window", place) },
  { name: "visits", title: "Visits", number: true, by: (scene, place) => scene.visits[place] ?? 0 },
  { name: "ambiguity", title: "u(s)", number: true, by: (scene, place) => scene.ambiguity[place] ?? 0 },
  { name: "depth", title: "Depth", number: true, by: (scene, place) => scene.depth[place] ?? 0 },
  { name: "found", title: "Found at", number: true, by: (scene, place) => scene.firstSeen[place] ?? 0 },
  { name: "failed", title: "Failed", number: true, by: (scene, place) => scene.crashes[place] ?? 0 },
];

/** Places in the order of a column; ties and an unknown column by place. */
export function sorted(scene: Scene, places: number[], name: string, backwards: boolean): number[] {
  const column = columns.find((each) => each.name === name);
  if (!column) return places;
  const keys = new Map(places.map((place) => [place, column.by(scene, place)]));
  const sign = backwards ? -1 : 1;
  return [...places].sort((a, b) => {
    const first = keys.get(a) ?? 0;
    const second = keys.get(b) ?? 0;
    const order =
      typeof first === "string" || typeof second === "string"
        ? String(first).localeCompare(String(second))
        : second - first;
    return sign * order || a - b;
  });
}

export function StatesTable({ route, scene }: { route: Route; scene: Scene }) {
  const filters = readFilters(route.query);
  const sort = route.query.get("sort") ?? "id";
  const backwards = route.query.get("backwards") === "1";
  const search = route.query.toString();
  const places = useMemo(() => {
    const shown = visible(scene, filters);
    const all = Array.from({ length: scene.size }, (_, place) => place).filter((place) => shown[place] === 1);
    return sorted(scene, all, sort, backwards);
  }, [scene, search]);
  const pages = Math.max(1, Math.ceil(places.length / onePage));
  const page = Math.min(Math.max(Number(route.query.get("page")) || 1, 1), pages);
  const several = scene.runs.length > 1;
  return (
    <>
      <FilterBar route={route} scene={scene} filters={filters} shown={places.length} />
      {places.length === 0 ? (
        <Empty title="No state passes the filters" />
      ) : (
        <div class="states-table" tabIndex={0} role="region" aria-label="States">
          <table>
            <thead>
              <tr>
                <th scope="col">Screen</th>
                {several && <th scope="col">Run</th>}
                {columns.map((column) => (
                  <th
                    key={column.name} scope="col" class={column.number ? "number" : ""}
                    aria-sort={sort === column.name ? (backwards === (column.number ?? false) ? "ascending" : "descending") : "none"}
                  >
                    <a href={amended(route, { sort: column.name, backwards: sort === column.name && !backwards, page: null })}>
                      {column.title}
                      {sort === column.name && <span aria-hidden="true">{backwards === (column.number ?? false) ? " ↑" : " ↓"}</span>}
                    </a>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {places.slice((page - 1) * onePage, page * onePage).map((place) => {
                const run = runOf(scene, place);
                const id = scene.id[place] ?? 0;
                const address = href("state", [run, id]);
                return (
                  <tr key={place}>
                    <td class="states-picture">
                      <a href={address} tabIndex={-1} aria-hidden="true">
                        <Thumbnail run={run} state={id} shown={scene.picture[place] === 1} />
                      </a>
                    </td>
                    {several && <td>{run}</td>}
                    <td>
                      <a href={address}>{id}</a>
                    </td>
                    <td class="states-words">{line(scene.title[place] ?? "", 120)}</td>
                    <td class="states-words muted">{line(wordOf(scene, "window", place), 60)}</td>
                    <td class="number">{count(scene.visits[place] ?? 0)}</td>
                    <td class="number">{decimal(scene.ambiguity[place] ?? 0)}</td>
                    <td class="number">{(scene.depth[place] ?? -1) < 0 ? "–" : scene.depth[place]}</td>
                    <td class="number">{count(scene.firstSeen[place] ?? 0)}</td>
                    <td class="number">{scene.crashes[place] || ""}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {pages > 1 && <Pages route={route} page={page} pages={pages} />}
    </>
  );
}

function Pages({ route, page, pages }: { route: Route; page: number; pages: number }) {
  const go = (next: number) => navigate(amended(route, { page: next === 1 ? null : next }));
  return (
    <nav class="row" aria-label="Pages of the table">
      <button type="button" disabled={page === 1} onClick={() => go(page - 1)}>
        Previous
      </button>
      <span>
        page {page} of {pages}
      </span>
      <button type="button" disabled={page === pages} onClick={() => go(page + 1)}>
        Next
      </button>
    </nav>
  );
}
