/** The page around the pages: header, navigation, what goes on, and the page that the address names. */

import { Component, type ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Source } from "./api/source";
import type { RunInfo, Runs } from "./api/types";
import { line } from "./format";
import { caughtUp, goesOn, withNews, type News } from "./logic/news";
import { pageOf } from "./pages";
import { Gone } from "./parts/Gone";
import { Header } from "./parts/Header";
import { Keys } from "./parts/Keys";
import { Empty, Failed, Loading } from "./parts/states";
import { useTitle } from "./parts/title";
import { href, navigate, useRoute, type Route } from "./router";
import { useViewer, ViewerContext, type Viewer } from "./viewer";

const PAUSE = 1000; // milliseconds between figures of a run that goes on and the next

export function App({ source }: { source: Source }) {
  const route = useRoute();
  const [runs, setRuns] = useState<RunInfo[] | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [live, setLive] = useState<News>(new Map());
  const [paused, setPaused] = useState(false);
  const [gone, setGone] = useState(false);

  const load = () => {
    setError(null);
    source.runs().then((answer) => setRuns(answer.runs), setError);
  };
  useEffect(load, [source]);

  const following = goesOn(runs ?? [], live) && !paused;
  useEffect(() => {
    if (!following) return;
    return source.live(
      (event) => setLive((known) => new Map(known).set(event.run, event)),
      () => undefined,
    );
  }, [source, following]);

  // Events say that there is news; the figures are asked for together, so that steps, states and edges are of one moment.
  const news = [...live.values()].map((event) => `${event.run} ${event.sequence} ${event.live}`).join();
  const newest = useRef(news);
  newest.current = news;
  const [known, setKnown] = useState("");
  const behind = news !== known;
  useEffect(() => {
    if (!behind) return;
    let ended = false;
    const timer = setTimeout(() => {
      const asked = newest.current;
      const settle = (answer: Runs | null) => {
        if (ended) return;
        if (answer) {
          setRuns(answer.runs);
          setLive((events) => caughtUp(events, answer.runs));
        }
        setKnown(asked);
      };
      source.runs().then(settle, () => settle(null));
    }, PAUSE);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [source, behind, known]);

  const current = useMemo(
    () =>
      (runs ?? [])
        .map((run) => withNews(run, live.get(run.run)))
        .map((run) => (gone ? { ...run, live: false } : run)), // nobody is followed any more
    [runs, live, gone],
  );
  const viewer = useMemo<Viewer>(
    () => ({ source, runs: current, live, paused, setPaused }),
    [source, current, live, paused],
  );

  const only = runs?.length === 1 ? runs[0] : undefined;
  useEffect(() => {
    // The start of a single run is its map, under an address that says so.
    if (route.page === "" && only && !source.embedded) navigate(href("map", [only.run]), { replace: true });
  }, [route.page, only]);

  const page = `${route.page}/${route.parts.join("/")}`;
  const before = useRef(page);
  useEffect(() => {
    if (before.current === page) return;
    before.current = page;
    // Whoever followed a link goes on at the page that it led to, and not at a link that may be gone.
    const active = document.activeElement;
    if (!active || active === document.body || active.tagName === "A") document.getElementById("content")?.focus();
  }, [page]);

  return (
    <ViewerContext.Provider value={viewer}>
      <Header route={route} />
      <Gone source={source} onGone={setGone} />
      <main id="content" tabIndex={-1} class={`page page-${route.page || "start"}`}>
        {error ? (
          <Failed error={error} retry={load} />
        ) : runs === null ? (
          <Loading what="Reading the runs" />
        ) : (
          <Guard key={page}>
            <Page route={route} runs={current} />
          </Guard>
        )}
      </main>
      <Keys />
    </ViewerContext.Provider>
  );
}

function Page({ route, runs }: { route: Route; runs: RunInfo[] }) {
  const { source } = useViewer();
  const Named = pageOf(route, runs, source.embedded);
  return Named === null ? <NoPage name={route.page} /> : <Named route={route} />;
}

function NoPage({ name }: { name: string }) {
  useTitle("No such page");
  return (
    <>
      <h1 class="unseen">No such page</h1>
      <Empty title={`There is no page “${line(name, 60)}”`}>
        <a href={href("")}>To the start</a>
      </Empty>
    </>
  );
}

/** A fault of one page does not take the others with it. */
class Guard extends Component<{ children: ComponentChildren }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static override getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render() {
    const { error } = this.state;
    return error ? <Failed error={error} retry={() => this.setState({ error: null })} /> : this.props.children;
  }
}
