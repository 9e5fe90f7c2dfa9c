/** Crashes, hangs, exits and captures: what was said, the way there, the last screens. */

import type { FindingInfo } from "../api/types";
import { count, plural, worded } from "../format";
import { causesOf, kindOf, type Cause } from "../logic/causes";
import { commandLine } from "../logic/shell";
import { Command } from "../parts/Command";
import { Film } from "../parts/Film";
import { useFollowing } from "../parts/following";
import { Said } from "../parts/Said";
import { Empty, Show } from "../parts/states";
import { Facts } from "../parts/tables";
import { useTitle } from "../parts/title";
import { Entry } from "../parts/ViewerLink";
import { amended, href, navigate, type Route } from "../router";
import { useViewer } from "../viewer";

const ABOUT: Record<string, string> = {
  crash: "Crashes: the application died",
  hang: "Hangs: it answered nothing until the deadline",
  exit: "Exits: it ended by itself",
  capture: "Captures: an action left the application",
};

const ORDER = ["crash", "hang", "exit", "capture"];

export function FindingsPage({ route }: { route: Route }) {
  const run = route.parts[0] ?? "";
  useTitle("Findings", run);
  const answer = useFollowing(run, `findings ${run}`, (source, signal) => source.findings(run, signal));
  return (
    <article class="sheet">
      <h1>Findings</h1>
      <Show answer={answer} what="Looking for what went wrong">
        {({ findings }) =>
          findings.length === 0 ? (
            <Empty title="No crash, no hang, no exit, no capture.">
              <a href={href("map", [run])}>To the map</a>
            </Empty>
          ) : (
            <Groups findings={findings} route={route} run={run} />
          )
        }
      </Show>
    </article>
  );
}

function Groups({ findings, route, run }: { findings: FindingInfo[]; route: Route; run: string }) {
  const causes = causesOf(findings);
  const kinds = [...new Set([...ORDER, ...causes.map((each) => kindOf(each.oldest.outcome))])];
  const asked = Number(route.query.get("number"));
  const open = (cause: Cause) => (asked ? cause.number === asked : causes.length <= 3 || cause === causes[0]);
  return (
    <>
      {kinds.map((kind) => {
        const group = causes.filter((each) => kindOf(each.oldest.outcome) === kind);
        if (group.length === 0) return null;
        const times = group.reduce((sum, each) => sum + each.count, 0);
        return (
          <section key={kind} aria-labelledby={`findings-${kind}`}>
            <h2 id={`findings-${kind}`}>
              {ABOUT[kind] ?? kind}{" "}
              <span class="muted">
                {plural(group.length, "cause")}, {plural(times, "time")}
              </span>
            </h2>
            {group.map((cause) => (
              <Finding
                key={cause.number}
                run={run}
                cause={cause}
                open={open(cause)}
                onOpen={() => navigate(amended(route, { number: cause.number }), { replace: true })}
              />
            ))}
          </section>
        );
      })}
    </>
  );
}

interface FindingProps {
  run: string;
  cause: Cause;
  open: boolean;
  onOpen: () => void;
}

function Finding({ run, cause, open, onOpen }: FindingProps) {
  const { runs } = useViewer();
  const path = runs.find((each) => each.run === run)?.path ?? run;
  const finding = cause.oldest;
  const places = cause.others.length + 1;
  return (
    <details class="card finding" open={open}>
      <summary onClick={onOpen}>
        <span class={kindOf(finding.outcome) === "capture" ? "badge" : "badge badge-bad"}>{finding.outcome}</span>{" "}
        <strong>{finding.words ? <Said text={finding.words} /> : "at the start"}</strong>{" "}
        <span class="muted">
          ×{count(cause.count)}
          {finding.state !== null && (places > 1 ? ` at ${count(places)} states` : ` at state ${finding.state}`)}
        </span>
        {finding.note && (
          <span class="finding-note">
            <Said text={finding.note} longest={200} />
          </span>
        )}
      </summary>
      {finding.note.length > 200 && (
        <p class="note">
          <Said text={finding.note} longest={4000} />
        </p>
      )}
      <Facts
        facts={[
          ["first", <Entry run={run} sequence={finding.first} />],
          ["episode", <Said text={finding.episode} longest={40} />],
          ...(finding.state === null ? [] : [["at", <Place run={run} finding={finding} />] as const]),
          ...Object.entries(finding.configuration).map(
            ([name, value]) => [worded(name), <Said text={value} longest={80} />] as const,
          ),
        ]}
      />
      <LastScreens finding={finding} />
      {finding.actions.length > 0 && (
        <>
          <h3>The way there, {plural(finding.actions.length, "action")}</h3>
          <Steps actions={finding.actions} />
        </>
      )}
      {cause.others.length > 0 && (
        <>
          <h3>The same elsewhere</h3>
          <ul>
            {cause.others.slice(0, LAST).map((each) => (
              <li key={each.first}>
                {each.state === null ? "at the start" : <Place run={run} finding={each} />} ×{count(each.count)}, first @
                {each.first}
              </li>
            ))}
            {cause.others.length > LAST && <li class="muted">and {count(cause.others.length - LAST)} more places</li>}
          </ul>
        </>
      )}
      <Command about="All of it in a terminal" line={commandLine("findings", path, "--number", cause.number)} />
      {finding.state !== null && (
        <>
          <Command about="Does it come again?" line={commandLine("replay", path, "--finding", cause.number)} />
          <Command about="Keep it as a test" line={commandLine("script", path, "--finding", cause.number)} />
        </>
      )}
    </details>
  );
}

function Place({ run, finding }: { run: string; finding: FindingInfo }) {
  return (
    <a href={href("state", [run, finding.state ?? 0])}>
      state {finding.state} <Said text={finding.title} longest={60} />
    </a>
  );
}

function LastScreens({ finding }: { finding: FindingInfo }) {
  const before = finding.pictures.length;
  const frames = [
    ...finding.pictures.map((address, place) => ({
      address,
      words: before - place === 1 ? "the screen before it" : `${before - place} screens before it`,
    })),
    ...(finding.picture === null ? [] : [{ address: finding.picture, words: "the screen it ended on" }]),
  ];
  return frames.length ? <Film label={`The last screens of finding ${finding.number}, ${finding.first}`} frames={frames} /> : null;
}

const LAST = 12;

/** The last steps of a way; the earlier ones are folded. */
function Steps({ actions }: { actions: readonly string[] }) {
  const folded = actions.length > LAST + 3 ? actions.length - LAST : 0;
  const list = (from: number, to: number) => (
    <ol class="steps" start={from + 1}>
      {actions.slice(from, to).map((words, place) => (
        <li key={from + place}>
          <Said text={words} />
        </li>
      ))}
    </ol>
  );
  return (
    <>
      {folded > 0 && (
        <details>
          <summary>{plural(folded, "earlier action")}</summary>
          {list(0, folded)}
        </details>
      )}
      {list(folded, actions.length)}
    </>
  );
}
