/** The course of a run in figures. */

import type { Figures, Latency, Rate } from "../api/types";
import { count, duration, plural, share } from "../format";
import { latencyBars, lengthBars } from "../logic/quantities";
import { Bars, Curve } from "../parts/Chart";
import { Choice } from "../parts/Choice";
import { useFollowing } from "../parts/following";
import { Show } from "../parts/states";
import { Facts } from "../parts/tables";
import { useTitle } from "../parts/title";
import { amended, href, navigate, type Route } from "../router";
import { useViewer } from "../viewer";

type Over = "steps" | "time";

const OVER: readonly { key: Over; words: string }[] = [
  { key: "steps", words: "Steps" },
  { key: "time", words: "Time" },
];

export function FiguresPage({ route }: { route: Route }) {
  const run = route.parts[0] ?? "";
  useTitle("Figures", run);
  const answer = useFollowing(run, `figures ${run}`, (source, signal) => source.figures(run, signal));
  const over: Over = route.query.get("over") === "time" ? "time" : "steps";
  return (
    <article class="sheet">
      <header class="sheet-head section-head">
        <h1>Figures</h1>
        <Choice
          label="Discovery over"
          value={over}
          options={OVER}
          onChoose={(key) => navigate(amended(route, { over: key === "steps" ? null : key }), { replace: true })}
        />
      </header>
      <Show answer={answer} what="Counting">
        {(figures) => <Course figures={figures} over={over} />}
      </Show>
    </article>
  );
}

function Course({ figures, over }: { figures: Figures; over: Over }) {
  const { runs } = useViewer();
  const info = runs.find((each) => each.run === figures.run);
  const steps = figures.step.at(-1) ?? 0;
  const seconds = figures.seconds.at(-1) ?? 0;
  return (
    <>
      <Facts
        facts={[
          ["states", count(figures.states.at(-1) ?? 0)],
          ["edges", count(figures.edges.at(-1) ?? 0)],
          ["steps", count(steps)],
          ["of all workers’ time", duration(seconds)],
          ["steps an hour of a worker", seconds > 0 ? count(Math.round((steps / seconds) * 3600)) : "–"],
          ...(info ? ([["episodes", count(info.episodes)]] as const) : []),
          ["deciding, p50 · p99", `${duration(figures.decide.p50)} · ${duration(figures.decide.p99)}`],
          ["acting, p50 · p99", `${duration(figures.act.p50)} · ${duration(figures.act.p99)}`],
        ]}
      />
      <div class="charts">
        <Curve
          title={over === "steps" ? "Discovery over steps" : "Discovery over time"}
          across={over === "steps" ? "steps" : "seconds of all workers’ time"}
          up="found so far"
          over={over === "steps" ? figures.step : figures.seconds}
          {...(over === "time" ? { sayAcross: (value: number) => duration(value) } : {})}
          series={[
            { name: "states", values: figures.states, colour: "--accent" },
            { name: "edges", values: figures.edges, colour: "--warn", dash: [6, 4] },
          ]}
        />
        <Rates title="Known places: steps that landed on a state known before" rate={figures.revisits} />
        <Rates title="Loops: steps that ended where they began" rate={figures.loops} />
        <Rates title="Captures: steps that left the application" rate={figures.captures} />
        <Times title="Deciding: encoding, identifying, selecting" latency={figures.decide} />
        <Times title="Acting: performing and settling" latency={figures.act} />
        <Bars
          title="How steps ended"
          label="outcome"
          unit="entries"
          bars={Object.entries(figures.outcomes)
            .sort((a, b) => b[1] - a[1])
            .map(([label, times]) => ({ label, count: times }))}
        >
          <p>
            <a href={href("findings", [figures.run])}>What went wrong, and how</a>
          </p>
        </Bars>
        <Bars title="Length of episodes" label="steps" unit="episodes" bars={lengthBars(figures.lengths)} />
      </div>
    </>
  );
}

function Rates({ title, rate }: { title: string; rate: Rate }) {
  return (
    <Curve
      title={title}
      across="steps"
      up="share of steps"
      over={rate.step}
      say={share}
      series={[{ name: "share", values: rate.share, colour: "--accent" }]}
      top={1}
    />
  );
}

function Times({ title, latency }: { title: string; latency: Latency }) {
  const bars = latencyBars(latency);
  const all = latency.counts.reduce((sum, each) => sum + each, 0);
  return (
    <Bars title={title} label="took" unit="steps" bars={bars}>
      {all > 0 && (
        <p>
          {plural(all, "step")}: half within <b>{duration(latency.p50)}</b>, 90 % within <b>{duration(latency.p90)}</b>, 99 %
          within <b>{duration(latency.p99)}</b>
        </p>
      )}
    </Bars>
  );
}
