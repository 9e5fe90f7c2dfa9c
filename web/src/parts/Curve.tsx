/** A small chart of what grows: lines over one axis, drawn as SVG, with its last figures in words. */

import { compact, count } from "../format";

export interface Line {
  name: string;
  values: number[];
  tone: "accent" | "warn";
}

const WIDTH = 600;
const HEIGHT = 240;
const FOOT = 22; // below the axis
const SIDE = 46; // left of it

export function Curve({ label, across, unit, lines }: { label: string; across: number[]; unit: string; lines: Line[] }) {
  const most = Math.max(1, ...lines.map(({ values }) => values.at(-1) ?? 0));
  const end = across.at(-1) ?? 0;
  if (end === 0) return <p class="muted">Nothing was done yet.</p>;
  const x = (value: number) => SIDE + (value / end) * (WIDTH - SIDE - 8);
  const y = (value: number) => 8 + (1 - value / most) * (HEIGHT - FOOT - 8);
  return (
    <figure class="curve">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line class="curve-grid" x1={SIDE} x2={WIDTH - 8} y1={y(part * most)} y2={y(part * most)} />
            <text class="curve-text" x={SIDE - 6} y={y(part * most) + 4} text-anchor="end">
              {compact(Math.round(part * most))}
            </text>
            <text
              class="curve-text"
              x={x(part * end)}
              y={HEIGHT - 4}
              text-anchor={part === 0 ? "start" : part === 1 ? "end" : "middle"}
            >
              {compact(Math.round(part * end))}
              {part === 1 ? ` ${unit}` : ""}
            </text>
          </g>
        ))}
        {lines.map(({ name, values, tone }) => (
          <polyline
            key={name}
            class={`curve-line curve-${tone}`}
            points={values.map((value, place) => `${x(across[place] ?? 0).toFixed(1)},${y(value).toFixed(1)}`).join(" ")}
          />
        ))}
      </svg>
      <figcaption class="row">
        {lines.map(({ name, values, tone }) => (
          <span key={name} class={`curve-key curve-${tone}`}>
            {count(values.at(-1) ?? 0)} {name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
