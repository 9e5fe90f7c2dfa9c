/** States that were searched for: picture, title, where the words are, how it was found. */

import type { TargetedKeyboardEvent } from "preact";
import type { Hit } from "../api/types";
import { decimal, line, plural } from "../format";
import { mark } from "../logic/snippet";
import { href } from "../router";
import { Thumbnail } from "./Picture";

export interface ResultsProps {
  hits: readonly Hit[];
  query: string;
  /** Whether to say which run each is of. */
  several: boolean;
  /** The arrow key went up from the first. */
  onLeave?: () => void;
  /** A link of its own for each, such as a comparison. */
  beside?: (hit: Hit) => { to: string; words: string } | null;
}

export function Results({ hits, query, several, onLeave, beside }: ResultsProps) {
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLOListElement>) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const links = [...event.currentTarget.querySelectorAll<HTMLElement>("a.result-link")];
    const at = links.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    event.preventDefault();
    if (event.key === "ArrowUp" && at === 0) onLeave?.();
    else links[event.key === "ArrowDown" ? Math.min(at + 1, links.length - 1) : at - 1]?.focus();
  };
  return (
    <ol class="results" onKeyDown={onKeyDown}>
      {hits.map((hit) => {
        const other = beside?.(hit);
        return (
          <li key={`${hit.run} ${hit.state.id}`} class="result">
            <div class="result-picture">
              <Thumbnail key={`${hit.run} ${hit.state.id}`} run={hit.run} state={hit.state.id} shown={hit.state.thumbnail !== null} />
            </div>
            <div class="grow">
              <h2>
                <a class="result-link" href={href("state", [hit.run, hit.state.id])}>
                  <span class="state-number">{hit.state.id}</span> <Marked text={hit.state.title || "no words"} query={query} />
                </a>
              </h2>
              <p class="snippet">
                <Marked text={hit.snippet} query={query} longest={300} />
              </p>
              <p class="muted small">
                {several && <>{hit.run} · </>}
                {line(hit.state.window, 60)} · {hit.state.display_mode} · u {decimal(hit.state.ambiguity)} ·{" "}
                {plural(hit.state.visits, "visit")} {hit.by_words !== null && <span class="badge">words #{hit.by_words}</span>}{" "}
                {hit.by_meaning !== null && <span class="badge">meaning #{hit.by_meaning}</span>}{" "}
                {other && <a href={other.to}>{other.words}</a>}
              </p>
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function Marked({ text, query, longest = 120 }: { text: string; query: string; longest?: number }) {
  return (
    <bdi>
      {mark(line(text, longest), query).map((piece, place) =>
        piece.marked ? <mark key={place}>{piece.text}</mark> : piece.text,
      )}
    </bdi>
  );
}
