/** Tables that scroll in a box of their own, which the keyboard reaches; and lists of facts. */

import type { ComponentChildren } from "preact";
import { Said } from "./Said";

export function Scrolled({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="scrolled" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="fact-list">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>
            <Said text={name} longest={40} />
          </dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
