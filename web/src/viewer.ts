/** What every page shares: where answers come from, which runs there are, and what goes on in them. */

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Source } from "./api/source";
import type { Live, RunInfo } from "./api/types";

export interface Viewer {
  source: Source;
  runs: RunInfo[];
  /** The newest event of each run that goes on. */
  live: ReadonlyMap<string, Live>;
  /** True: the pages do not follow runs that go on. */
  paused: boolean;
  setPaused: (paused: boolean) => void;
}

export const ViewerContext = createContext<Viewer | null>(null);

export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (viewer === null) throw new Error("a page was drawn outside of the viewer");
  return viewer;
}

/** A question to the source: on its way, failed, or answered. `stale`: a newer answer is on its way. */
export type Answered<T> =
  | { status: "loading" }
  | { status: "failed"; error: Error; retry: () => void }
  | { status: "ready"; value: T; stale: boolean };

/**
 * Ask again whenever `key` changes; a key of null asks nothing yet. With `keep`, the last answer stays while the
 * next is on its way.
 */
export function useAnswer<T>(
  key: string | null,
  ask: (source: Source, signal: AbortSignal) => Promise<T>,
  { keep = false }: { keep?: boolean } = {},
): Answered<T> {
  const { source } = useViewer();
  const [attempt, setAttempt] = useState(0);
  const [held, setHeld] = useState<{ key: string; answer: Answered<T> } | null>(null);
  useEffect(() => {
    if (key === null) return;
    const control = new AbortController();
    const settle = (answer: Answered<T>) => {
      if (!control.signal.aborted) setHeld({ key, answer });
    };
    ask(source, control.signal).then(
      (value) => settle({ status: "ready", value, stale: false }),
      (error: unknown) =>
        settle({
          status: "failed",
          error: error instanceof Error ? error : new Error(String(error)),
          retry: () => {
            setHeld(null);
            setAttempt((number) => number + 1);
          },
        }),
    );
    return () => control.abort();
    // `ask` is made anew at each drawing; `key` says when it asks something else.
  }, [key, attempt, source]);
  if (held === null || key === null) return { status: "loading" };
  if (held.key === key) return held.answer;
  return keep && held.answer.status === "ready" ? { ...held.answer, stale: true } : { status: "loading" };
}
