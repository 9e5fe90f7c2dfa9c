/** A share of a whole: a bar with its number. */

import { share } from "../format";

export function Share({ value, words }: { value: number; words?: string }) {
  return (
    <span class="share">
      <span class="share-bar" aria-hidden="true">
        <span class="share-part" style={{ width: `${Math.max(0, Math.min(1, value)) * 100}%` }} />
      </span>
      <span class="share-number">{words ?? share(value)}</span>
    </span>
  );
}
