/** Texts of the explored application: text nodes only, cut, kept apart from what stands around them. */

import { line } from "../format";

export function Said({ text, longest = 120, none }: { text: string; longest?: number; none?: string }) {
  const shown = line(text, longest);
  if (!shown) return none === undefined ? null : <span class="muted">{none}</span>;
  const whole = line(text, 1000);
  return <bdi title={whole === shown ? undefined : whole}>{shown}</bdi>;
}
