/** The runs that are shown together. */

import type { RunInfo } from "../api/types";
import { count, duration } from "../format";
import { companionOf } from "../parts/Header";
import { Empty } from "../parts/states";
import { Thumbnail } from "../parts/Picture";
import { Said } from "../parts/Said";
import { Facts } from "../parts/tables";
import { useTitle } from "../parts/title";
import { href, type Route } from "../router";
import { useViewer } from "../viewer";

const BAD = ["crash", "hang", "exit"];

export function RunsPage(_props: { route: Route }) {
  const { runs } = useViewer();
  useTitle("Runs");
  return (
    <article class="sheet">
      <h1>Runs</h1>
      {runs.length === 0 && <Empty title="There are no runs here." />}
      <ul class="runs">
        {runs.map((run) => (
          <li key={run.run} class="card">
            <RunCard run={run} other={companionOf(run.run, runs)} />
          </li>
        ))}
      </ul>
      {runs.length > 1 && (
        <p>
          <a href={href("map", [runs.map((run) => run.run).join(",")])}>All of them in one map</a>
        </p>
      )}
    </article>
  );
}

function RunCard({ run, other }: { run: RunInfo; other: RunInfo | undefined }) {
  const failures = Object.entries(run.outcomes).filter(([outcome]) => BAD.includes(outcome.replace(/^start:/u, "")));
  return (
    <>
      <a class="run-picture" href={href("map", [run.run])} tabIndex={-1} aria-hidden="true">
        <Thumbnail run={run.run} state={0} shown={run.states > 0} />
      </a>
      <div class="grow">
        <h2>
          <a href={href("map", [run.run])}>{run.run}</a> {run.live && <span class="badge badge-good">live</span>}{" "}
          {failures.map(([outcome, times]) => (
            <a key={outcome} class="badge badge-bad" href={href("findings", [run.run])}>
              {outcome} ×{count(times)}
            </a>
          ))}
        </h2>
        <p class="muted">
          <Said text={run.environment} /> · seed {run.seed} · <time dateTime={run.created}>{moment(run.created)}</time> · version {run.version}
        </p>
        <Facts
          facts={[
            ["states", count(run.states)],
            ["edges", count(run.edges)],
            ["steps", count(run.steps)],
            ["episodes", count(run.episodes)],
            ["workers’ time", duration(run.worker_seconds)],
            ["identity", `${run.identifier}, τ = ${run.threshold}`],
          ]}
        />
        <nav class="ways" aria-label={`Pages of ${run.run}`}>
          <a href={href("summary", [run.run])}>Summary</a>
          <a href={href("map", [run.run])}>Map</a>
          <a href={href("figures", [run.run])}>Figures</a>
          <a href={href("ambiguous", [run.run])}>Ambiguous</a>
          <a href={href("findings", [run.run])}>Findings</a>
          {other && <a href={href("difference", [run.run, other.run])}>Compare with {other.run}</a>}
        </nav>
      </div>
    </>
  );
}

function moment(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
