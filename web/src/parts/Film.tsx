/** Pictures in a row, as in a strip of film; each opens whole. */

import { useViewer } from "../viewer";

export interface Frame {
  address: string;
  words: string;
}

export function Film({ label, frames }: { label: string; frames: readonly Frame[] }) {
  const { source } = useViewer();
  return (
    <div class="film" role="region" aria-label={label} tabIndex={0}>
      {frames.map((frame, place) => (
        <figure key={place}>
          <a href={source.picture(frame.address)} target="_blank" rel="noopener noreferrer">
            <img src={source.picture(frame.address)} alt={frame.words} loading="lazy" decoding="async" />
          </a>
          <figcaption>{frame.words}</figcaption>
        </figure>
      ))}
    </div>
  );
}
