/** The map: all states at their places, filtered, coloured, and followed while the run goes on. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Map as StateMap, Path } from "../api/types";
import { MapCanvas, type View } from "../map/canvas";
import { FilterBar } from "../map/FilterBar";
import { readFilters, visible } from "../map/filters";
import { HoverCard } from "../map/HoverCard";
import { Legend } from "../map/Legend";
import { coloured, palette } from "../map/look";
import { colourings } from "../map/scales";
import { makeScene, mostFarLinks, placeOf, runOf, type Scene } from "../map/scene";
import { SidePanel } from "../map/SidePanel";
import { Timeline } from "../map/Timeline";
import { useMaps } from "../map/useMaps";
import { namesOf } from "../parts/Header";
import { isForMap } from "../parts/Keys";
import { Empty, Show } from "../parts/states";
import { useTitle } from "../parts/title";
import { line, plural } from "../format";
import { amended, href, navigate, parse, type Route } from "../router";
import { onThemeChange } from "../theme";
import { useAnswer, useViewer, type Answered } from "../viewer";
import { StatesTable } from "./StatesPage";

export function MapPage({ route }: { route: Route }) {
  const { runs } = useViewer();
  const names = namesOf(route, runs);
  const chosen = route.query.get("state");
  useTitle(chosen === null ? "Map" : `State ${line(chosen, 40)} on the map`, names.join(", "));
  const answer = useMaps(names);
  const upright = useUpright();
  if (names.length === 0) return <Empty title="There is no run to show" />;
  return (
    <>
      <h1 class="unseen">Map of {names.join(", ")}</h1>
      <Show answer={answer} what="Drawing the map">
        {(maps) => <MapOf key={`${names.join()} ${upright}`} route={route} maps={maps} upright={upright} />}
      </Show>
    </>
  );
}

const higherThanWide = "(max-aspect-ratio: 4/5)";

/** Whether the window is higher than wide, as on a telephone. */
function useUpright(): boolean {
  const [upright, setUpright] = useState(() => matchMedia(higherThanWide).matches);
  useEffect(() => {
    const media = matchMedia(higherThanWide);
    const update = () => setUpright(media.matches);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, []);
  return upright;
}

const hasWebGL = (() => {
  let known: boolean | null = null;
  return () => (known ??= document.createElement("canvas").getContext("webgl2") !== null);
})();

function MapOf({ route, maps, upright }: { route: Route; maps: StateMap[]; upright: boolean }) {
  const scene = useMemo(() => makeScene(maps, upright), [maps]);
  if (scene.size === 0) {
    return <Empty title="No state yet">The run has not recorded a screen. A run that goes on appears here by itself.</Empty>;
  }
  if (!hasWebGL() || route.query.get("webgl") === "0") {
    return (
      <>
        <div class="notice-line" role="alert">
          This browser gives no WebGL, which the map is drawn with. Here are the same states as a table; turn on hardware
          acceleration, or try another browser, to see the map.
        </div>
        <StatesTable route={route} scene={scene} />
      </>
    );
  }
  return <Drawn route={route} scene={scene} upright={upright} />;
}

function Drawn({ route, scene, upright }: { route: Route; scene: Scene; upright: boolean }) {
  const { source } = useViewer();
  const asked = readFilters(route.query);
  // The address changes with the camera too; what is shown does not.
  const filters = useMemo(() => asked, [JSON.stringify(asked)]);
  const shown = useMemo(() => visible(scene, filters), [scene, filters]);
  const shownCount = useMemo(() => shown.reduce((total, one) => total + one, 0), [shown]);
  const colourBy = colourings.find((each) => each === route.query.get("colour")) ?? "ambiguity";
  const [themed, setThemed] = useState(0);
  useEffect(() => onThemeChange(() => setThemed((times) => times + 1)), []);
  const { colours, key } = useMemo(() => coloured(scene, colourBy), [scene, colourBy, themed]);
  const hues = useMemo(palette, [themed]);
  const look = useMemo(() => ({ shown, colours, palette: hues }), [shown, colours, hues]);

  const selected = selectedPlace(route, scene);
  const pathShown = route.query.get("path") === "1";
  const run = selected === null ? "" : runOf(scene, selected);
  const id = selected === null ? 0 : (scene.id[selected] ?? 0);
  const path = useAnswer(selected === null || !pathShown ? null : `${run}/${id}`, (from, signal) => from.path(run, id, signal));
  const places = useMemo(() => placesOf(path, pathShown, scene), [path, pathShown, scene]);

  const [hovered, setHovered] = useState<{ place: number; x: number; y: number } | null>(null);
  const stage = useRef<HTMLDivElement>(null);
  const canvas = useRef<MapCanvas | null>(null);
  const latest = useRef({ route, scene });
  latest.current = { route, scene };
  const view = readView(route.query, upright);

  useEffect(() => {
    if (!stage.current) return;
    const go = (changes: Parameters<typeof amended>[1], replace: boolean) =>
      navigate(amended(latest.current.route, changes), { replace });
    const drawn = new MapCanvas(
      stage.current,
      (place) => source.thumbnail(runOf(latest.current.scene, place), latest.current.scene.id[place] ?? 0),
      {
        onHover: (place, x, y) => setHovered(place === null ? null : { place, x, y }),
        onSelect: (place) => {
          // The panel that opens moves the map from under the pointer.
          setHovered(null);
          go(selection(latest.current.scene, place), false);
        },
        onOpen: (place) => navigate(href("state", [runOf(latest.current.scene, place), latest.current.scene.id[place] ?? 0])),
        onView: (rest) => go(viewQuery(rest, upright), true),
        onDrawn: () => performance.mark("screensearch:map-drawn"),
      },
    );
    drawn.setScene(scene, look);
    if (view) drawn.setView(view);
    canvas.current = drawn;
    return () => {
      canvas.current = null;
      drawn.destroy();
    };
  }, [source]);

  const first = useRef(true);
  useEffect(() => {
    if (first.current) first.current = false;
    else {
      setHovered(null);
      canvas.current?.setScene(scene, look);
    }
  }, [scene]);
  useEffect(() => canvas.current?.setLook(look), [look]);
  useEffect(
    () => canvas.current?.setFocus({ hovered: hovered?.place ?? null, selected, path: places }),
    [hovered?.place, selected, places, scene],
  );
  // Back and forward bring the camera along.
  useEffect(() => {
    const move = () => {
      const next = parse(location.hash);
      const leaves = next.page !== latest.current.route.page || next.parts.join() !== latest.current.route.parts.join();
      if (!leaves) canvas.current?.setView(readView(next.query, upright), true);
    };
    addEventListener("popstate", move);
    return () => removeEventListener("popstate", move);
  }, []);

  const select = (place: number | null, reveal = false) => {
    navigate(amended(route, selection(scene, place)));
    if (place !== null && reveal) canvas.current?.reveal(place);
  };
  const onKey = (event: KeyboardEvent) => {
    if (!isForMap(event)) return;
    const map = canvas.current;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => map?.pan(-0.15, 0),
      ArrowRight: () => map?.pan(0.15, 0),
      ArrowUp: () => map?.pan(0, -0.15),
      ArrowDown: () => map?.pan(0, 0.15),
      "+": () => map?.zoom(1.5),
      "=": () => map?.zoom(1.5),
      "-": () => map?.zoom(1 / 1.5),
      "0": () => map?.fit(),
      n: () => select(nextShown(shown, selected, 1), true),
      p: () => select(nextShown(shown, selected, -1), true),
      Enter: () => selected !== null && navigate(href("state", [run, id])),
      Escape: () => selected !== null && select(null),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };
  const handler = useRef(onKey);
  handler.current = onKey;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => handler.current(event);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);

  return (
    <>
      <FilterBar route={route} scene={scene} filters={filters} colourBy={colourBy} shown={shownCount} />
      <div class="map-body">
        <div class="map-frame">
          <div
            ref={stage} class="map-stage" tabIndex={0} role="application"
            aria-label={`Map of ${plural(scene.size, "state")}. Arrow keys move, plus and minus zoom, n and p select a state, Enter opens it. The States page has the same as a table.`}
          />
          <Legend keyed={key} thinned={scene.links.source.length > mostFarLinks} />
          <div class="zoom" role="group" aria-label="Zoom">
            <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => canvas.current?.zoom(1.5)}>+</button>
            <button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick={() => canvas.current?.zoom(1 / 1.5)}>−</button>
            <button type="button" title="Show the whole map (0)" onClick={() => canvas.current?.fit()}>Fit</button>
          </div>
          {shownCount === 0 && <div class="map-none" role="status">No state passes the filters.</div>}
          {hovered && <HoverCard scene={scene} {...hovered} />}
        </div>
        {selected !== null && (
          <SidePanel
            key={`${run}/${id}`} run={run} state={id} path={path} pathShown={pathShown}
            onPath={(on) => navigate(amended(route, { path: on }), { replace: true })}
            onClose={() => select(null)}
            onSelect={(state) => select(placeOf(scene, run, state), true)}
          />
        )}
      </div>
      <Timeline
        scene={scene} from={filters.from} to={filters.to}
        onChange={(from, to) => navigate(amended(route, { from, to }), { replace: true })}
      />
      <div class="unseen" role="status">
        {selected !== null && `State ${id} selected: ${line(scene.title[selected] ?? "", 80)}`}
      </div>
    </>
  );
}

/** `state=12`, or `state=run:12` on a map of several runs. */
function selectedPlace(route: Route, scene: Scene): number | null {
  const name = route.query.get("state");
  if (name === null) return null;
  const colon = name.lastIndexOf(":");
  const run = colon < 0 ? (scene.runs[0] ?? "") : name.slice(0, colon);
  const place = placeOf(scene, run, Number(name.slice(colon + 1)));
  return place < 0 ? null : place;
}

function selection(scene: Scene, place: number | null) {
  if (place === null || place < 0) return { state: null, path: null };
  const id = scene.id[place] ?? 0;
  return { state: scene.runs.length > 1 ? `${runOf(scene, place)}:${id}` : id };
}

function placesOf(path: Answered<Path>, shown: boolean, scene: Scene): number[] {
  if (!shown || path.status !== "ready" || path.value.start === null) return [];
  const { run, start, steps } = path.value;
  const places = [start, ...steps.map((step) => step.target)].map((state) => placeOf(scene, run, state));
  return places.includes(-1) ? [] : places;
}

function nextShown(shown: Uint8Array, from: number | null, step: 1 | -1): number | null {
  const size = shown.length;
  let place = from ?? (step === 1 ? -1 : size);
  for (let tries = 0; tries < size; tries += 1) {
    place = (place + step + size) % size;
    if (shown[place] === 1) return place;
  }
  return null;
}

/** What the camera looked at, if on a map of the same shape: on another these places are others. */
function readView(query: URLSearchParams, upright: boolean): View | null {
  if ((query.get("upright") === "1") !== upright) return null;
  const [x, y, z] = ["x", "y", "z"].map((name) => (query.has(name) ? Number(query.get(name)) : NaN));
  return x !== undefined && y !== undefined && z !== undefined && z > 0 && Number.isFinite(x + y + z) ? { x, y, z } : null;
}

function viewQuery(view: View | null, upright: boolean) {
  const short = (value: number) => String(Number(value.toPrecision(5)));
  return view
    ? { x: short(view.x), y: short(view.y), z: short(view.z), upright }
    : { x: null, y: null, z: null, upright: null };
}
