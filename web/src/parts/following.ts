/** Answers about runs that go on. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Source } from "../api/source";
import { useAnswer, useViewer, type Answered } from "../viewer";

const PAUSE = 2000; // milliseconds between an answer and the next question

/**
 * An answer that is asked for again while its run (or one of several) goes on. The next question waits until the one before is
 * answered: where answers are slower than news, a question at each would never be answered.
 */
export function useFollowing<T>(
  run: string | string[],
  key: string,
  ask: (source: Source, signal: AbortSignal) => Promise<T>,
): Answered<T> {
  const { live } = useViewer();
  const newest = (typeof run === "string" ? [run] : run).map((name) => live.get(name)?.sequence ?? "").join();
  const latest = useRef(newest);
  latest.current = newest;
  const [shown, setShown] = useState(newest);
  const answer = useAnswer(`${key} ${shown}`, ask, { keep: true });
  const settled = answer.status === "failed" || (answer.status === "ready" && !answer.stale);
  const news = newest !== shown;
  useEffect(() => {
    if (!settled || !news) return;
    const timer = setTimeout(() => setShown(latest.current), PAUSE);
    return () => clearTimeout(timer);
  }, [settled, news]);
  return answer;
}
