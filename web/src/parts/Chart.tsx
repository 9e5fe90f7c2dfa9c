/** Charts: a curve over steps or time, and bars; each with its numbers as a table. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { count } from "../format";
import { thinned, type Bar } from "../logic/quantities";
import { colour, onThemeChange } from "../theme";

export interface Series {
  name: string;
  values: readonly number[];
  /** A custom property of the style sheet. */
  colour: string;
  dash?: number[];
}

export interface CurveProps {
  title: string;
  /** What the curve is drawn over, with its unit. */
  across: string;
  up: string;
  over: readonly number[];
  series: readonly Series[];
  say?: (value: number) => string;
  sayAcross?: (value: number) => string;
  top?: number;
}

const HEIGHT = 260;

export function Curve(props: CurveProps) {
  const { title, over, series, say = count, sayAcross = count } = props;
  const place = useRef<HTMLDivElement>(null);
  const heading = useId();
  const theme = useTheme();
  useEffect(() => {
    const target = place.current;
    if (target === null || over.length === 0) return;
    const ink = colour("--muted");
    const axis = (label: string, words: (value: number) => string, size: number): uPlot.Axis => ({
      label,
      stroke: ink,
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1 },
      font: "12px system-ui, sans-serif",
      labelFont: "12px system-ui, sans-serif",
      values: (_chart, marks) => marks.map(words),
      size,
    });
    const chart = new uPlot(
      {
        width: target.clientWidth,
        height: HEIGHT,
        scales: { x: { time: false }, y: { range: (_chart, _low, high) => [0, props.top ?? (high > 0 ? high * 1.05 : 1)] } },
        axes: [axis(props.across, sayAcross, 34), axis(props.up, say, 62)],
        cursor: { drag: { x: true, y: false } },
        series: [
          { label: props.across, value: (_chart, value: number | null) => (value === null ? "–" : sayAcross(value)) },
          ...series.map((each) => ({
            label: each.name,
            stroke: colour(each.colour),
            width: 2,
            points: { show: over.length < 3 },
            value: (_chart: uPlot, value: number | null) => (value === null ? "–" : say(value)),
            ...(each.dash ? { dash: each.dash } : {}),
          })),
        ],
      },
      [[...over], ...series.map((each) => [...each.values])],
      target,
    );
    const watch = new ResizeObserver(() => chart.setSize({ width: target.clientWidth, height: HEIGHT }));
    watch.observe(target);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [theme, over, ...series.map((each) => each.values), props.across, props.top]);
  const rows = thinned(over.length);
  return (
    <section class="card chart" aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      {over.length === 0 ? (
        <p class="muted">Nothing to draw yet.</p>
      ) : (
        <>
          <div ref={place} class="chart-place" role="img" aria-label={`${title}. Its numbers are in the table below.`} />
          <details>
            <summary>As a table</summary>
            <table>
              <caption class="unseen">{title}</caption>
              <thead>
                <tr>
                  <th scope="col" class="number">{props.across}</th>
                  {series.map((each) => (
                    <th key={each.name} scope="col" class="number">{each.name}</th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={row}>
                    <th scope="row" class="number">{sayAcross(over[row] ?? 0)}</th>
                    {series.map((each) => (
                      <td key={each.name} class="number">{say(each.values[row] ?? 0)}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </details>
        </>
      )}
    </section>
  );
}

export interface BarsProps {
  title: string;
  /** What the bars stand for, with its unit. */
  label: string;
  unit: string;
  bars: readonly Bar[];
  children?: ComponentChildren;
}

/** Lying bars are a table already: each row has its words, its bar and its number. */
export function Bars({ title, label, unit, bars, children }: BarsProps) {
  const heading = useId();
  const most = Math.max(1, ...bars.map((bar) => bar.count));
  return (
    <section class="card chart" aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      {children}
      {bars.length === 0 ? (
        <p class="muted">Nothing to draw yet.</p>
      ) : (
        <table class="bars">
          <caption class="unseen">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{label}</th>
              <th scope="col" colSpan={2}>{unit}</th>
            </tr>
          </thead>
          <tbody>
            {bars.map((bar) => (
              <tr key={bar.label}>
                <th scope="row">{bar.label}</th>
                <td class="bars-room">
                  <span class={bar.count ? "bars-bar" : "bars-bar none"} style={{ width: `${(bar.count / most) * 100}%` }} />
                </td>
                <td class="number">{count(bar.count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** A number that changes with the colours, to draw again. */
function useTheme(): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => onThemeChange(() => setTurn((before) => before + 1)), []);
  return turn;
}
