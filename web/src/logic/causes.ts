/** Findings that have one cause, as the command line numbers them. */

import type { FindingInfo } from "../api/types";

export interface Cause {
  number: number;
  /** How it came about the first time. */
  oldest: FindingInfo;
  /** The same at other places. */
  others: FindingInfo[];
  count: number;
}

/** Findings with one number are one cause; causes stay in the order of their numbers. */
export function causesOf(findings: readonly FindingInfo[]): Cause[] {
  const numbers = [...new Set(findings.map((each) => each.number))].sort((a, b) => a - b);
  return numbers.map((number) => {
    const alike = findings.filter((each) => each.number === number).sort((a, b) => a.first - b.first);
    const [oldest, ...others] = alike as [FindingInfo, ...FindingInfo[]];
    return { number, oldest, others, count: alike.reduce((sum, each) => sum + each.count, 0) };
  });
}

/** A failed start is told apart in the log as start:crash; it is a crash all the same. */
export function kindOf(outcome: string): string {
  return outcome.replace(/^start:/u, "");
}
