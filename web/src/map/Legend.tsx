/** What colours, sizes and strokes mean. */

import { useEffect, useRef } from "preact/hooks";
import { count, line } from "../format";
import type { Key } from "./look";
import { mostFarLinks } from "./scene";

export function Legend({ keyed, thinned }: { keyed: Key; thinned: boolean }) {
  return (
    <div class="legend" aria-label="Legend" role="group">
      <div class="legend-title">{keyed.title}</div>
      {keyed.ramp && (
        <div class="legend-ramp">
          <span>{keyed.ramp.low}</span>
          <Ramp colours={keyed.ramp.colours} />
          <span>{keyed.ramp.high}</span>
        </div>
      )}
      {keyed.names && (
        <ul>
          {keyed.names.map(({ name, colour }) => (
            <li key={name}>
              <Swatch colour={colour} /> {line(name, 28)}
            </li>
          ))}
        </ul>
      )}
      {thinned && <div class="legend-rest">from afar the {count(mostFarLinks)} most frequent links, all when close</div>}
      <div class="legend-rest">larger: more visits · thicker: more often · dashed: less than half of an action’s outcomes</div>
    </div>
  );
}

function Ramp({ colours }: { colours: string[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    colours.forEach((colour, step) => {
      if (!context) return;
      context.fillStyle = colour;
      context.fillRect(step, 0, 1, 1);
    });
  }, [colours.join()]);
  return <canvas ref={canvas} width={colours.length} height={1} aria-hidden="true" />;
}

function Swatch({ colour }: { colour: string }) {
  return (
    <svg width="10" height="10" aria-hidden="true">
      <circle cx="5" cy="5" r="5" fill={colour} />
    </svg>
  );
}
