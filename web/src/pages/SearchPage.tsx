/** Search over all screens, by words and by meaning. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { line, plural } from "../format";
import { Results } from "../parts/Results";
import { Empty, Show } from "../parts/states";
import { useTitle } from "../parts/title";
import { amended, navigate, type Route } from "../router";
import { useAnswer, useViewer } from "../viewer";

const REST = 180; // milliseconds without a key before it is searched
const MOST = 40;

export function SearchPage({ route }: { route: Route }) {
  const { runs } = useViewer();
  const asked = route.query.get("q") ?? "";
  const run = route.query.get("run");
  useTitle(asked ? `Search: ${line(asked, 60)}` : "Search", run ?? "");
  const [typed, setTyped] = useState(asked);
  const box = useRef<HTMLInputElement>(null);
  const results = useRef<HTMLDivElement>(null);

  // At once, so that no letter is lost for whoever types on after the header's box led here.
  useLayoutEffect(() => box.current?.focus(), []);
  useEffect(() => {
    const focus = () => box.current?.select();
    addEventListener("screensearch-search", focus);
    return () => removeEventListener("screensearch-search", focus);
  }, []);
  useEffect(() => {
    if (typed.trim() === asked) return;
    const timer = setTimeout(() => navigate(amended(route, { q: typed.trim() }), { replace: true }), REST);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    if (typed.trim() !== asked) setTyped(asked);
  }, [asked]);

  const answer = useAnswer(
    asked ? `search ${run ?? ""} ${asked}` : null,
    (source, signal) => source.search(asked, { run, limit: MOST }, signal),
    { keep: true },
  );
  return (
    <article class="sheet">
      <h1>Search</h1>
      <form
        role="search"
        class="search-form"
        onSubmit={(event) => {
          event.preventDefault();
          navigate(amended(route, { q: typed.trim() }), { replace: true });
        }}
      >
        <input
          ref={box}
          type="search"
          aria-label="Words to search for"
          placeholder="Words on the screen, or what it is about"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "ArrowDown") return;
            event.preventDefault();
            results.current?.querySelector("a")?.focus();
          }}
        />
        {runs.length > 1 && (
          <select
            aria-label="Run"
            value={run ?? ""}
            onChange={(event) => navigate(amended(route, { run: event.currentTarget.value }), { replace: true })}
          >
            <option value="">all runs</option>
            {runs.map((each) => (
              <option key={each.run} value={each.run}>
                {each.run}
              </option>
            ))}
          </select>
        )}
      </form>
      <div ref={results}>
        {asked === "" ? (
          <Empty title="Find a screen">
            <p>Type some words: a label, a message, a file name. ↓ goes to the results.</p>
          </Empty>
        ) : (
          <Show answer={answer} what="Searching">
            {({ hits }, stale) => (
              <div aria-busy={stale}>
                <p role="status" class="muted">
                  {hits.length === 0 ? "Nothing found" : hits.length === MOST ? `The best ${MOST}` : plural(hits.length, "screen")}
                  {" for "}“{asked}”
                </p>
                <Results hits={hits} query={asked} several={runs.length > 1} onLeave={() => box.current?.focus()} />
              </div>
            )}
          </Show>
        )}
      </div>
    </article>
  );
}
