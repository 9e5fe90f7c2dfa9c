/** The selected state in short: its picture, its figures, its actions, and the ways on. */

import type { Path, StatePage } from "../api/types";
import { useFollowing } from "../parts/following";
import { Show } from "../parts/states";
import { ViewerLink } from "../parts/ViewerLink";
import { count, decimal, line, plural, share } from "../format";
import { href } from "../router";
import { useViewer, type Answered } from "../viewer";

export function SidePanel({
  run, state, path, pathShown, onPath, onClose, onSelect,
}: {
  run: string;
  state: number;
  path: Answered<Path>;
  pathShown: boolean;
  onPath: (shown: boolean) => void;
  onClose: () => void;
  onSelect: (state: number) => void;
}) {
  const answer = useFollowing(run, `state ${run}/${state}`, (source, signal) => source.state(run, state, signal));
  return (
    <aside class="side-panel" aria-label={`State ${state}`}>
      <Show answer={answer} what={`Reading state ${state}`}>
        {(page) => (
          <>
            <Summary run={run} page={page} onClose={onClose} />
            <p class="row">
              <a class="button" href={href("state", [run, state])}>
                Open
              </a>
              <a class="button" href={href("path", [run, state])}>
                Path
              </a>
              <ViewerLink class="button" to={href("similar", [run, state])}>
                Like this
              </ViewerLink>
            </p>
            <PathLine path={path} shown={pathShown} onPath={onPath} />
            <Actions run={run} page={page} onSelect={onSelect} />
          </>
        )}
      </Show>
    </aside>
  );
}

function Summary({ run, page, onClose }: { run: string; page: StatePage; onClose: () => void }) {
  const { source } = useViewer();
  const { state } = page;
  const picture = state.picture ?? state.thumbnail; // a thumbnail is too small to be read here
  return (
    <>
      <div class="side-head">
        <h2>
          <span class="muted">{state.id}</span> {line(state.title, 90) || "without words"}
        </h2>
        <button type="button" class="plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      {picture && (
        <a href={href("state", [run, state.id])} class="side-picture">
          <img src={source.picture(picture)} alt={`Screen of state ${state.id}`} />
        </a>
      )}
      <dl class="side-facts">
        <dt>Window</dt>
        <dd>{line(state.window, 80) || "none"}</dd>
        <dt>Ambiguity</dt>
        <dd>
          u = {decimal(state.ambiguity)} <span class="muted">of {plural(page.ambiguity.trials, "trial")}</span>
        </dd>
        <dt>Visits</dt>
        <dd>{count(state.visits)}</dd>
        <dt>Found</dt>
        <dd>
          at entry {count(page.first_seen)}
          {page.depth >= 0 && `, ${plural(page.depth, "action")} from a start`}
        </dd>
      </dl>
    </>
  );
}

function PathLine({ path, shown, onPath }: { path: Answered<Path>; shown: boolean; onPath: (shown: boolean) => void }) {
  const words =
    path.status === "loading"
      ? "looking for the way…"
      : path.status === "failed"
        ? path.error.message
        : !path.value.reachable
          ? "no known way leads here"
          : path.value.steps.length === 0
            ? "episodes start here"
            : `${plural(path.value.steps.length, "action")}, ${share(path.value.estimate)} estimated to come out`;
  return (
    <label class="check path-line">
      <input type="checkbox" checked={shown} onChange={(event) => onPath(event.currentTarget.checked)} />
      <span>
        Path from the start{shown && <span class="muted">: {words}</span>}
      </span>
    </label>
  );
}

function Actions({ run, page, onSelect }: { run: string; page: StatePage; onSelect: (state: number) => void }) {
  const most = 40;
  if (page.actions.length === 0) return <p class="muted">No action was tried here yet.</p>;
  return (
    <>
      <h3>{plural(page.actions.length, "action")} tried</h3>
      <ul class="side-actions">
        {page.actions.slice(0, most).map((action) => (
          <li key={action.signature}>
            <div class="row">
              <span class="grow">{line(action.words, 70)}</span>
              <span class="muted small" title="times done">
                {count(action.visits)}×
              </span>
            </div>
            {action.successors.slice(0, 4).map((next) => (
              <div class="successor" key={next.state}>
                <meter min={0} max={1} value={next.share} aria-label={`share of outcomes that are state ${next.state}`} />
                <button type="button" class="link" onClick={() => onSelect(next.state)} title="select on the map">
                  {next.state === page.state.id ? "stays here" : line(`${next.state} ${next.title}`, 34)}
                </button>
                <a class="muted small" href={href("edge", [run, page.state.id, next.state], { signature: action.signature })}>
                  {share(next.share)}
                  <span class="unseen"> of outcomes: open the edge</span>
                </a>
              </div>
            ))}
            {Object.entries(action.failures).map(([outcome, times]) => (
              <span key={outcome} class="badge badge-bad">
                {outcome} {times}×
              </span>
            ))}
          </li>
        ))}
      </ul>
      {page.actions.length > most && <a href={href("state", [run, page.state.id])}>all {count(page.actions.length)} actions</a>}
    </>
  );
}
