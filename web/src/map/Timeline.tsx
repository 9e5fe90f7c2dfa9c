/** A span of the run's course: two handles over the curve of discovered states. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { count, duration } from "../format";
import type { Scene } from "./scene";

const width = 600;
const height = 40;

/** The curve of states over sequence as the points of an area, in a box of 600 by 40. */
export function curve(firstSeen: ArrayLike<number>, sequence: number): string {
  const sorted = Float64Array.from(firstSeen as ArrayLike<number>).sort();
  const total = Math.max(sorted.length, 1);
  const points = ["0," + height];
  const every = Math.max(1, Math.floor(total / 300));
  for (let i = 0; i < sorted.length; i += every) {
    const x = ((sorted[i] ?? 0) / Math.max(sequence, 1)) * width;
    points.push(`${x.toFixed(1)},${(height - ((i + 1) / total) * (height - 2)).toFixed(1)}`);
  }
  points.push(`${width},2`, `${width},${height}`);
  return points.join(" ");
}

/** When the states of a span were discovered, in workers' time; null: none was. */
export function times(scene: Pick<Scene, "firstSeen" | "seconds">, low: number, high: number): [number, number] | null {
  let [first, last] = [Infinity, -Infinity];
  for (let place = 0; place < scene.firstSeen.length; place += 1) {
    const seen = scene.firstSeen[place] ?? 0;
    if (seen < low || seen > high) continue;
    first = Math.min(first, scene.seconds[place] ?? 0);
    last = Math.max(last, scene.seconds[place] ?? 0);
  }
  return first > last ? null : [first, last];
}

export function Timeline({
  scene,
  from,
  to,
  onChange,
}: {
  scene: Scene;
  from: number | null;
  to: number | null;
  /** Null where a handle is at its end. */
  onChange: (from: number | null, to: number | null) => void;
}) {
  const last = Math.max(scene.sequence, 1);
  const points = useMemo(() => curve(scene.firstSeen, last), [scene, last]);
  const [span, setSpan] = useState<[number, number]>([from ?? 0, to ?? last]);
  useEffect(() => setSpan([from ?? 0, to ?? last]), [from, to, last]);
  const [low, high] = span;
  const change = (next: [number, number]) => {
    setSpan(next);
    onChange(next[0] <= 0 ? null : next[0], next[1] >= last ? null : next[1]);
  };
  const time = useMemo(() => times(scene, low, high), [scene, low, high]);
  const x = (value: number) => (value / last) * width;
  return (
    <div class="timeline" role="group" aria-label="When states were discovered">
      <div class="timeline-words">
        <span>
          discovered at entries {count(low)} to {count(high)}
          {time && `, after ${duration(time[0])} to ${duration(time[1])} of workers’ time`}
        </span>
        {(from !== null || to !== null) && (
          <button type="button" class="small" onClick={() => change([0, last])}>
            All
          </button>
        )}
      </div>
      <div class="timeline-track">
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          <polygon class="timeline-all" points={points} />
          <clipPath id="timeline-span">
            <rect x={x(low)} y="0" width={Math.max(x(high) - x(low), 0)} height={height} />
          </clipPath>
          <polygon class="timeline-chosen" points={points} clip-path="url(#timeline-span)" />
        </svg>
        <input
          type="range" min={0} max={last} value={low} aria-label="From entry" aria-valuetext={`from entry ${low}`}
          onInput={(event) => change([Math.min(event.currentTarget.valueAsNumber, high), high])}
        />
        <input
          type="range" min={0} max={last} value={high} aria-label="To entry" aria-valuetext={`to entry ${high}`}
          onInput={(event) => change([low, Math.max(event.currentTarget.valueAsNumber, low)])}
        />
      </div>
    </div>
  );
}
