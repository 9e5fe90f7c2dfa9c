/** The run's name and figures, the way to every page, what goes on, and light or dark. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RunInfo } from "../api/types";
import { compact, count } from "../format";
import { href, navigate, type Route } from "../router";
import { applyTheme, storedTheme, themes, type Theme } from "../theme";
import { useViewer } from "../viewer";

const REST = 300; // milliseconds without a key before it is searched

/** The runs that an address is about; the first one where it names none. */
export function runsOf(route: Route, runs: RunInfo[]): RunInfo[] {
  const name =
    route.page === "search"
      ? (route.query.get("run") ?? "")
      : route.page === "difference"
        ? [...new Set(route.parts)].join()
        : (route.parts[0] ?? "");
  const named = name.split(",").flatMap((part) => runs.filter((run) => run.run === part));
  return named.length > 0 ? named : runs.slice(0, 1);
}

/** The names of runs that an address has, shown or not: who asks for one that is not is told so. */
export function namesOf(route: Route, runs: RunInfo[]): string[] {
  const written = (route.parts[0] ?? "").split(",").filter(Boolean);
  return written.length > 0 ? [...new Set(written)] : runs.slice(0, 1).map((run) => run.run);
}

/** The run to compare another with: one of the same application, if there is one. */
export function companionOf(name: string, runs: RunInfo[]): RunInfo | undefined {
  const application = runs.find((run) => run.run === name)?.application;
  const others = runs.filter((run) => run.run !== name);
  return others.find((run) => run.application === application) ?? others[0];
}

export function Header({ route }: { route: Route }) {
  const { runs } = useViewer();
  const shown = runsOf(route, runs);
  const run = shown[0];
  useEffect(() => {
    document.title = run ? `${run.run} · ScreenSearch` : "ScreenSearch";
  }, [run?.run]);
  return (
    <header class="header">
      <a
        class="skip"
        href={location.hash || "#/"}
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("content")?.focus();
        }}
      >
        Skip to the content
      </a>
      <div class="header-run">
        <a class="brand" href={href("")} aria-label="ScreenSearch: the start">
          <Sign />
        </a>
        {run && <RunName route={route} shown={shown} />}
      </div>
      {run && <Navigation route={route} run={shown.map((each) => each.run).join(",")} several={runs.length > 1} />}
      <div class="header-end">
        <SearchBox route={route} />
        <LiveBadge shown={shown} />
        <ThemeSwitch />
      </div>
    </header>
  );
}

/** The sign of the program; part of the script, since a report has no files beside it. */
function Sign() {
  return (
    <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#1f5fbf" />
      <path d="M11 11 21 9M11 13l9 10M22 12l-1 9" stroke="#fff" stroke-width="2" />
      <path d="M5 8h8v6H5zM19 6h8v6h-8zM17 20h8v6h-8z" fill="#fff" />
    </svg>
  );
}

function RunName({ route, shown }: { route: Route; shown: RunInfo[] }) {
  const { runs } = useViewer();
  const whole = runs.length > 1 && (route.page === "" || route.page === "runs");
  const name = whole ? "" : shown.map((run) => run.run).join(",");
  return (
    <div class="run-name">
      {runs.length > 1 ? (
        <select
          aria-label="Run"
          value={name}
          onChange={(event) => {
            const page = ["summary", "map", "states", "figures", "findings", "ambiguous"].includes(route.page) ? route.page : "map";
            navigate(href(page, [event.currentTarget.value]));
          }}
        >
          {whole && <option value="">{runs.length} runs</option>}
          {!whole && shown.length > 1 && <option value={name}>{name}</option>}
          {runs.map((run) => (
            <option key={run.run} value={run.run}>
              {run.run}
            </option>
          ))}
        </select>
      ) : (
        <strong title={shown[0]?.path}>{name}</strong>
      )}
      {whole ? <span class="muted run-figures">choose one</span> : <Figures shown={shown} />}
    </div>
  );
}

function Figures({ shown }: { shown: RunInfo[] }) {
  const sum = (of: (run: RunInfo) => number) => shown.reduce((total, run) => total + of(run), 0);
  const applications = [...new Set(shown.map((run) => run.application))].join(", ");
  return (
    <span class="muted run-figures">
      <span>{applications}</span>
      <span title={`${count(sum((run) => run.states))} states`}>
        <b>{compact(sum((run) => run.states))}</b> states
      </span>
      <span title={`${count(sum((run) => run.edges))} edges`}>
        <b>{compact(sum((run) => run.edges))}</b> edges
      </span>
      <span title={`${count(sum((run) => run.steps))} steps`}>
        <b>{compact(sum((run) => run.steps))}</b> steps
      </span>
    </span>
  );
}

function Navigation({ route, run, several }: { route: Route; run: string; several: boolean }) {
  const { runs, source } = useViewer();
  const first = run.split(",")[0] ?? run;
  const other = companionOf(first, runs)?.run;
  const links: [string, string, string][] = [
    ["summary", "Summary", href("summary", [first])],
    ["map", "Map", href("map", [run])],
    ["states", "States", href("states", [run])],
    ["figures", "Figures", href("figures", [first])],
    ["ambiguous", "Ambiguous", href("ambiguous", [first])],
    ["findings", "Findings", href("findings", [first])],
    ["search", "Search", href("search", [], { run: several ? first : null })],
  ];
  if (several && other) links.push(["difference", "Compare", href("difference", [first, other])]);
  const here = route.page || (source.embedded ? "summary" : several ? "" : "map");
  return (
    <nav aria-label="Pages" class="navigation">
      {links.map(([page, words, address]) => (
        <a key={page} href={address} aria-current={page === here ? "page" : undefined}>
          {words}
        </a>
      ))}
    </nav>
  );
}

/**
 * Typing here opens the search page with what was typed, whose own box is then typed on in; `/` comes here from
 * anywhere.
 */
function SearchBox({ route }: { route: Route }) {
  const { runs } = useViewer();
  const [words, setWords] = useState("");
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // On a narrow screen there is no room for the box, and the page has its own.
    const focus = () => (box.current?.checkVisibility() === false ? navigate(href("search")) : box.current?.focus());
    addEventListener("screensearch-search", focus);
    return () => removeEventListener("screensearch-search", focus);
  }, []);
  const search = () => {
    const run = runs.length > 1 ? runsOf(route, runs)[0]?.run : null;
    navigate(href("search", [], { q: words, run }));
    setWords("");
  };
  useEffect(() => {
    if (words.trim() === "") return;
    const timer = setTimeout(search, REST);
    return () => clearTimeout(timer);
  }, [words]);
  if (route.page === "search") return null;
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        search();
      }}
    >
      <input
        ref={box}
        type="search"
        class="search-box"
        placeholder="Search screens  /"
        aria-label="Search screens"
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          setWords("");
          event.currentTarget.blur();
        }}
      />
    </form>
  );
}

function LiveBadge({ shown }: { shown: RunInfo[] }) {
  const { paused, setPaused } = useViewer();
  const pace = usePace(shown);
  if (!shown.some((run) => run.live)) return null;
  return (
    <div class={`live ${paused ? "live-paused" : ""}`}>
      <span class="live-dot" aria-hidden="true" />
      <span>
        {paused ? "paused" : "live"}
        {!paused && pace !== null && <span class="muted"> {pace.toFixed(1)} steps/s</span>}
      </span>
      <button type="button" class="small" onClick={() => setPaused(!paused)}>
        {paused ? "Follow" : "Pause"}
      </button>
    </div>
  );
}

/** Entries a second over the last quarter of a minute. */
function usePace(shown: RunInfo[]): number | null {
  const marks = useRef<{ name: string; at: number; sequence: number }[]>([]);
  const name = shown.map((run) => run.run).join(",");
  const sequence = shown.reduce((total, run) => total + run.sequence, 0);
  const now = performance.now() / 1000;
  const last = marks.current[marks.current.length - 1];
  if (last?.name !== name) marks.current = [{ name, at: now, sequence }];
  else if (sequence !== last.sequence) marks.current.push({ name, at: now, sequence });
  while (marks.current.length > 2 && now - (marks.current[0]?.at ?? now) > 15) marks.current.shift();
  const first = marks.current[0];
  const newest = marks.current[marks.current.length - 1];
  if (!first || !newest || newest.at - first.at < 1) return null;
  return (newest.sequence - first.sequence) / (newest.at - first.at);
}

const signs: Record<Theme, string> = { system: "◐", light: "☀", dark: "☾" };

function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme());
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
  return (
    <button
      type="button"
      class="plain"
      title={`Colours: ${theme}. Change to ${next}.`}
      aria-label={`Colours: ${theme}. Change to ${next}.`}
      onClick={() => {
        applyTheme(next);
        setTheme(next);
      }}
    >
      <span aria-hidden="true">{signs[theme]}</span>
    </button>
  );
}

