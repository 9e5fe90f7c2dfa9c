/** Links to what only the viewer answers: explanations, and screens like one. */

import type { ComponentChildren } from "preact";
import { href } from "../router";
import { useViewer } from "../viewer";

interface ViewerLinkProps {
  to: string;
  label?: string;
  class?: string;
  /** What stands there in a report, which cannot follow the link; nothing unless told. */
  otherwise?: ComponentChildren;
  children: ComponentChildren;
}

export function ViewerLink({ to, label, otherwise = null, children, ...rest }: ViewerLinkProps) {
  const { source } = useViewer();
  if (source.embedded) return <>{otherwise}</>;
  return (
    <a href={to} class={rest.class} aria-label={label}>
      {children}
    </a>
  );
}

/** An entry of the log, `@345`, with the way to its explanation. */
export function Entry({ run, sequence }: { run: string; sequence: number }) {
  const words = `@${sequence}`;
  return (
    <ViewerLink to={href("explain", [run, words])} otherwise={words}>
      {words}
    </ViewerLink>
  );
}
