/**
 * What is known of runs that go on, from two sides: events, which come at each change, and the figures of all runs,
 * which are asked for when there was one. Either may be ahead of the other.
 */

import type { Live, RunInfo } from "../api/types";

export type News = ReadonlyMap<string, Live>;

/** Whether events are still to come: of a run that has sent one, only its events say that it ended. */
export function goesOn(runs: readonly RunInfo[], news: News): boolean {
  return runs.some((run) => news.get(run.run)?.live ?? run.live);
}

/** A run with what its newest event says of it. */
export function withNews(run: RunInfo, event: Live | undefined): RunInfo {
  if (!event) return run;
  return { ...run, live: event.live, sequence: Math.max(run.sequence, event.sequence) };
}

/** The news, no older than the figures: a page that follows them would else stop before the end that the header shows. */
export function caughtUp(news: News, runs: readonly RunInfo[]): News {
  const later = runs.filter((run) => run.sequence > (news.get(run.run)?.sequence ?? Infinity));
  if (later.length === 0) return news;
  const all = new Map(news);
  for (const { run, sequence } of later) all.set(run, { ...(news.get(run) as Live), sequence });
  return all;
}
