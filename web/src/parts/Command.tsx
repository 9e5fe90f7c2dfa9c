/** A command line to copy. */

import { useState } from "preact/hooks";

export function Command({ line, about }: { line: string; about?: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(line);
      setSaid("copied");
    } catch {
      setSaid("the browser did not allow it: select the line and copy it");
    }
  };
  return (
    <div class="command">
      {about !== undefined && <span class="command-about">{about}</span>}
      <code>{line}</code>
      <button type="button" onClick={() => void copy()} aria-label={`Copy the command ${line}`}>
        Copy
      </button>
      <span role="status" class="muted">
        {said}
      </span>
    </div>
  );
}
