/** Pictures of screens. A picture that cannot be loaded gives way to a plain plate with words. */

import { useState } from "preact/hooks";
import { useViewer } from "../viewer";

export function Thumbnail({
  run,
  state,
  shown = true,
  alt = "",
}: {
  run: string;
  state: number;
  /** False: there is no picture of this state. */
  shown?: boolean;
  alt?: string;
}) {
  const { source } = useViewer();
  const [broken, setBroken] = useState(false);
  if (!shown || broken) {
    return (
      <span class="thumbnail thumbnail-none" aria-hidden={alt === ""}>
        no picture
      </span>
    );
  }
  return (
    <img
      class="thumbnail"
      src={source.thumbnail(run, state)}
      alt={alt}
      loading="lazy"
      decoding="async"
      onError={() => setBroken(true)}
    />
  );
}
