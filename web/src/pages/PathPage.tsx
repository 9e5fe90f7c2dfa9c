/** The most reliable way from a start to a state. */

import type { Path } from "../api/types";
import { count, plural, share, worded } from "../format";
import { commandLine } from "../logic/shell";
import { Command } from "../parts/Command";
import { Said } from "../parts/Said";
import { Share } from "../parts/Share";
import { StateCard } from "../parts/StateCard";
import { Empty, Show } from "../parts/states";
import { Facts } from "../parts/tables";
import { useTitle } from "../parts/title";
import { href, type Route } from "../router";
import { useAnswer, useViewer } from "../viewer";

export function PathPage({ route }: { route: Route }) {
  const [run = "", number = ""] = route.parts;
  useTitle(`The way to ${number}`, run);
  const answer = useAnswer(`path ${run} ${number}`, (source, signal) => source.path(run, Number(number), signal));
  return (
    <article class="sheet">
      <header class="sheet-head">
        <h1>The way to state {number}</h1>
        <nav class="ways" aria-label="From this way">
          <a href={href("state", [run, number])}>The state</a>
          <a href={href("map", [run], { state: number })}>On the map</a>
        </nav>
      </header>
      <Show answer={answer} what="Looking for the way">
        {(path) =>
          path.reachable ? (
            <Way path={path} />
          ) : (
            <Empty title={`No known way leads from a start to state ${number}.`}>
              <p>It was reached only by steps whose beginning is not known, such as after a capture.</p>
            </Empty>
          )
        }
      </Show>
    </article>
  );
}

function Way({ path }: { path: Path }) {
  const { runs } = useViewer();
  const { run, state } = path;
  const folder = runs.find((each) => each.run === run)?.path ?? run;
  return (
    <>
      <Facts
        facts={[
          ["length", path.steps.length === 0 ? "episodes begin there" : plural(path.steps.length, "action")],
          ["estimated to come out", `${share(path.estimate)} of the time`],
          ["came out so far", `${share(path.reliability)}, by the shares below`],
          ...Object.entries(path.configuration).map(([name, value]) => [worded(name), <Said text={value} longest={80} />] as const),
        ]}
      />
      <div class="commands">
        <Command about="Go there in a fresh sandbox" line={commandLine("replay", folder, state)} />
        <Command about="Write it as a test to keep" line={commandLine("script", folder, state)} />
      </div>
      <ol class="way">
        {path.start !== null && (
          <li>
            <StateCard run={run} state={path.start} title={path.steps[0]?.source_title ?? ""} note="start" />
          </li>
        )}
        {path.steps.map((step, place) => (
          <li key={place}>
            <a class="way-action" href={href("edge", [run, step.source, step.target], { signature: step.signature })}>
              <span class="way-words">
                <Said text={step.words} longest={90} />
              </span>
              <Share value={step.share} words={`${share(step.share)} · ${count(step.count)} of ${count(step.visits)}`} />
            </a>
            <StateCard run={run} state={step.target} title={step.target_title} {...(place === path.steps.length - 1 ? { note: "there" } : {})} />
          </li>
        ))}
      </ol>
    </>
  );
}
