/** A run on one page: what was explored, what came of it, where it is ambiguous, what failed. A report begins here. */

import { useEffect, useRef } from "preact/hooks";
import type { Ambiguities, Figures, Findings, Map as StateMap, RunInfo } from "../api/types";
import { count, decimal, duration, line, plural, share } from "../format";
import { Curve } from "../parts/Curve";
import { runsOf } from "../parts/Header";
import { Thumbnail } from "../parts/Picture";
import { Empty, Show } from "../parts/states";
import { useTitle } from "../parts/title";
import { href, type Route } from "../router";
import { colour, onThemeChange } from "../theme";
import { useAnswer, useViewer } from "../viewer";

const LISTED = 5;
const BAD = ["crash", "hang"];
const UNUSUAL = ["crash", "hang", "exit", "capture", "missed", "undecided", "lost"];

export function SummaryPage({ route }: { route: Route }) {
  const { runs, source } = useViewer();
  const run = runsOf(route, runs)[0];
  useTitle("Summary", run?.run ?? "");
  if (!run) return <Empty title="There is no run here" />;
  const { report } = source;
  return (
    <article class="summary">
      <h1>
        {line(run.application)} <span class="muted">explored</span>
      </h1>
      <p class="muted">
        {line(run.environment, 200)}, begun {moment(run.created)}, seed {run.seed}, with screensearch {run.version}
        {report?.created && <>. This report was made {moment(report.created)}</>}.
      </p>
      <Totals run={run} />
      <div class="summary-columns">
        <section class="card" aria-labelledby="discovery">
          <h2 id="discovery">Discovery</h2>
          <Discovery run={run.run} />
        </section>
        <section class="card" aria-labelledby="overview">
          <h2 id="overview">Map</h2>
          <Overview run={run} />
        </section>
      </div>
      <section class="card" aria-labelledby="ambiguous">
        <h2 id="ambiguous">The same action, different outcomes</h2>
        <Ambiguous run={run.run} />
      </section>
      <section class="card" aria-labelledby="failures">
        <h2 id="failures">Failures</h2>
        <Failures run={run.run} />
      </section>
      {report && report.lacks.length > 0 && (
        <section class="card" aria-labelledby="lacks">
          <h2 id="lacks">What this report has not</h2>
          <ul>
            {report.lacks.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
          <p class="muted">
            The viewer has all of it, from the run itself: <code>screensearch view RUN</code>
          </p>
        </section>
      )}
    </article>
  );
}

function Totals({ run }: { run: RunInfo }) {
  const unusual = UNUSUAL.map((outcome) => [outcome, run.outcomes[outcome] ?? 0] as const).filter(([, times]) => times > 0);
  const figures: [string, string][] = [
    ["states", count(run.states)],
    ["edges", count(run.edges)],
    ["steps", count(run.steps)],
    ["episodes", count(run.episodes)],
    ["of workers’ time", duration(run.worker_seconds)],
    ...unusual.map(([outcome, times]): [string, string] => [outcome, count(times)]),
  ];
  return (
    <dl class="totals">
      {figures.map(([name, figure]) => (
        <div key={name} class={BAD.includes(name) ? "totals-bad" : ""}>
          <dt>{name}</dt>
          <dd>{figure}</dd>
        </div>
      ))}
    </dl>
  );
}

function Discovery({ run }: { run: string }) {
  const answer = useAnswer<Figures>(run, (source, signal) => source.figures(run, signal));
  return (
    <Show answer={answer} what="Reading the course">
      {(figures) => (
        <>
          <Curve
            label={`States and edges discovered over ${plural(figures.step.at(-1) ?? 0, "step")}`}
            across={figures.step}
            unit="steps"
            lines={[
              { name: "states", values: figures.states, tone: "accent" },
              { name: "edges", values: figures.edges, tone: "warn" },
            ]}
          />
          <p>
            <a href={href("figures", [run])}>All figures</a>
          </p>
        </>
      )}
    </Show>
  );
}

function Overview({ run }: { run: RunInfo }) {
  const answer = useAnswer<StateMap>(run.run, (source, signal) => source.map(run.run, signal));
  return (
    <Show answer={answer} what="Reading the map">
      {(map) => (
        <a class="overview" href={href("map", [run.run])}>
          <Dots map={map} prior={run.prior_ambiguity} />
          <span>Open the map: {plural(map.states.id.length, "state")}</span>
        </a>
      )}
    </Show>
  );
}

/** The map as dots and lines: a picture of its shape. Those more ambiguous than an untried state stand out. */
function Dots({ map, prior }: { map: StateMap; prior: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const draw = () => canvas.current && drawDots(canvas.current, map, prior);
    draw();
    return onThemeChange(draw);
  }, [map, prior]);
  return <canvas ref={canvas} width={900} height={480} aria-hidden="true" />;
}

function drawDots(canvas: HTMLCanvasElement, map: StateMap, prior: number): void {
  const pen = canvas.getContext("2d");
  if (!pen) return;
  const { x, y, ambiguity } = map.states;
  const [left, right] = ends(x);
  const [low, high] = ends(y);
  const scale = Math.min((canvas.width - 40) / (right - left || 1), (canvas.height - 40) / (high - low || 1));
  const across = (place: number) => canvas.width / 2 + ((x[place] ?? 0) - (left + right) / 2) * scale;
  const down = (place: number) => canvas.height / 2 - ((y[place] ?? 0) - (low + high) / 2) * scale;
  const many = x.length > 2_000;
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.strokeStyle = colour("--line-strong");
  pen.globalAlpha = many ? 0.05 : 0.35;
  pen.beginPath();
  map.links.source.forEach((source, place) => {
    const target = map.links.target[place] ?? source;
    pen.moveTo(across(source), down(source));
    pen.lineTo(across(target), down(target));
  });
  pen.stroke();
  pen.globalAlpha = 1;
  const [plain, ambiguous] = [colour("--accent"), colour("--warn")];
  const size = many ? 1.5 : 4;
  x.forEach((_, place) => {
    pen.fillStyle = (ambiguity[place] ?? 0) > prior ? ambiguous : plain;
    pen.beginPath();
    pen.arc(across(place), down(place), size, 0, 2 * Math.PI);
    pen.fill();
  });
}

function ends(values: number[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

function Ambiguous({ run }: { run: string }) {
  const answer = useAnswer<Ambiguities>(run, (source, signal) => source.ambiguities(run, signal));
  return (
    <Show answer={answer} what="Reading what is ambiguous">
      {({ actions }) =>
        actions.length === 0 ? (
          <p class="muted">Every action led to the same state each time it was done.</p>
        ) : (
          <>
            <ol class="summary-list">
              {actions.slice(0, LISTED).map((action) => (
                <li key={`${action.state} ${action.signature}`}>
                  <a href={href("state", [run, action.state])} tabIndex={-1} aria-hidden="true">
                    <Thumbnail run={run} state={action.state} />
                  </a>
                  <div>
                    <strong>{line(action.words)}</strong> <span class="muted">at</span>{" "}
                    <a href={href("state", [run, action.state])}>{line(action.title)}</a>
                    <p class="muted">
                      {plural(action.visits, "time")}, dispersion {decimal(action.dispersion)}
                    </p>
                    <ul class="successors">
                      {action.successors.slice(0, 4).map((successor) => (
                        <li key={successor.state}>
                          {share(successor.share)} to{" "}
                          <a href={href("edge", [run, action.state, successor.state], { signature: action.signature })}>
                            {line(successor.title)}
                          </a>
                        </li>
                      ))}
                    </ul>
                  </div>
                </li>
              ))}
            </ol>
            <p>
              <a href={href("ambiguous", [run])}>All ambiguous actions ({count(actions.length)})</a>
            </p>
          </>
        )
      }
    </Show>
  );
}

function Failures({ run }: { run: string }) {
  const answer = useAnswer<Findings>(run, (source, signal) => source.findings(run, signal));
  return (
    <Show answer={answer} what="Reading the findings">
      {({ findings }) =>
        findings.length === 0 ? (
          <p class="muted">No crash, no hang, no exit, no capture.</p>
        ) : (
          <>
            <ol class="summary-list">
              {findings.slice(0, LISTED).map((finding) => (
                <li key={finding.number}>
                  {finding.state === null ? <span class="thumbnail thumbnail-none">at the start</span> : (
                    <a href={href("state", [run, finding.state])} tabIndex={-1} aria-hidden="true">
                      <Thumbnail run={run} state={finding.state} />
                    </a>
                  )}
                  <div>
                    <span class={BAD.includes(finding.outcome) ? "badge badge-bad" : "badge"}>{finding.outcome}</span>{" "}
                    <strong>{line(finding.words) || "before the first screen"}</strong>{" "}
                    <span class="muted">
                      {finding.state !== null && (
                        <>
                          at <a href={href("state", [run, finding.state])}>{line(finding.title)}</a>,{" "}
                        </>
                      )}
                      {plural(finding.count, "time")}
                    </span>
                    {finding.note && <p class="muted">{line(finding.note, 300)}</p>}
                  </div>
                </li>
              ))}
            </ol>
            <p>
              <a href={href("findings", [run])}>All findings ({count(findings.length)}), with the way there</a>
            </p>
          </>
        )
      }
    </Show>
  );
}

/** 16 November 2026, 13:40 */
function moment(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : at.toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
}
