/** A line for whoever still looks at a page whose viewer has ended. */

import { useEffect, useState } from "preact/hooks";
import type { Source } from "../api/source";

export const EVERY = 10_000; // milliseconds between two looks
export const AGAIN = 2_000; // after the first that was not answered
const MISSES = 2; // a busy or sleeping machine may miss one

export function Gone({ source, onGone }: { source: Source; onGone: (gone: boolean) => void }) {
  const [misses, setMisses] = useState(0);
  useEffect(() => {
    if (source.embedded) return;
    let ended = false;
    let timer: ReturnType<typeof setTimeout>;
    let missed = 0;
    const look = async () => {
      if (!document.hidden) {
        const there = await source.isThere();
        if (ended) return;
        missed = there ? 0 : missed + 1;
        setMisses(missed);
        onGone(missed >= MISSES);
      }
      timer = setTimeout(look, missed > 0 && missed < MISSES ? AGAIN : EVERY);
    };
    timer = setTimeout(look, EVERY);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [source]);
  return (
    <div role="status">
      {misses >= MISSES && (
        <p class="gone">
          The viewer has ended. What is on this page stays; for more, run <code>screensearch view</code> again and open
          the address that it prints.
        </p>
      )}
    </div>
  );
}
