/** A state with its small picture, its number and its title, linked to its page or to another. */

import type { ComponentChildren } from "preact";
import { href } from "../router";
import { Thumbnail } from "./Picture";
import { Said } from "./Said";

export interface StateCardProps {
  run: string;
  state: number;
  title: string;
  /** False: there is no picture of it. Left out: there may be one. */
  picture?: boolean;
  to?: string;
  note?: ComponentChildren;
  small?: boolean;
}

export function StateCard({ run, state, title, picture = true, to, note, small = false }: StateCardProps) {
  return (
    <a class={small ? "state-card state-card-small" : "state-card"} href={to ?? href("state", [run, state])}>
      <Thumbnail key={`${run} ${state}`} run={run} state={state} shown={picture} />
      <span class="state-card-words">
        <span class="state-card-title">
          <span class="state-number">{state}</span> <Said text={title} longest={80} none="no words" />
        </span>
        {note !== undefined && <span class="state-card-note">{note}</span>}
      </span>
    </a>
  );
}
