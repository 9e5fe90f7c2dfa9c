/** The maps of some runs, asked for again as they grow. */

import { useRef } from "preact/hooks";
import type { Map as StateMap } from "../api/types";
import { useFollowing } from "../parts/following";
import type { Answered } from "../viewer";

/** The same maps stay the same object, so that nothing is drawn anew for an answer without news. */
export function useMaps(names: string[]): Answered<StateMap[]> {
  const held = useRef<StateMap[]>([]);
  const answer = useFollowing(names, `maps ${names.join()}`, (source, signal) =>
    Promise.all(names.map((name) => source.map(name, signal))),
  );
  if (answer.status !== "ready") return answer;
  if (stamp(held.current) !== stamp(answer.value)) held.current = answer.value;
  return { ...answer, value: held.current };
}

function stamp(maps: StateMap[]): string {
  return maps.map((map) => `${map.run}@${map.sequence}`).join();
}
