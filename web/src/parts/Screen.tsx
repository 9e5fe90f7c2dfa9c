/** A screen as a person saw it, or as its elements describe it, with boxes over the elements. */

import type { CSSProperties, TargetedKeyboardEvent } from "preact";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ElementInfo, Rectangle } from "../api/types";
import { line } from "../format";
import { extent, readingOrder, type Placed } from "../logic/overlay";
import { useViewer } from "../viewer";

export interface ScreenProps {
  /** What the picture shows, for those who do not see it. */
  alt: string;
  picture: string | null;
  elements: readonly ElementInfo[];
  window?: Rectangle | null;
  /** The elements that get a box, the largest first. */
  placed?: readonly Placed[];
  /** What the boxes are, as in "Elements of state 12". */
  label?: string;
  /** A class for the box of an element. */
  tone?: (element: ElementInfo, index: number) => string;
  active?: number | null;
  onActive?: (index: number) => void;
  onOpen?: (index: number) => void;
  /** A place to mark besides: what was acted on. */
  mark?: Rectangle | null;
  markWords?: string;
}

const STEP = 1.25;
const CLOSEST = 8;
const TALLEST = 72; // percent of the page's height
const MARGIN = 0.04; // of the window's size, left around it
const LARGE = 0.05; // of the screen
const NONE: readonly Placed[] = [];

/**
 * The screen in a view that can be zoomed and scrolled. It begins with the window that took the input, if that
 * is known, since a small window on a large desktop would be hard to read. Arrow keys go from box to box, + and −
 * zoom, 0 shows all.
 */
export function Screen(props: ScreenProps) {
  const { elements, placed = NONE, active = null, picture } = props;
  const { source } = useViewer();
  const [loaded, setLoaded] = useState<{ picture: string; size: [number, number] | null } | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const view = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const name = useId();

  const known = loaded !== null && loaded.picture === picture ? loaded : null;
  const pictured = picture !== null && (known === null || known.size !== null);
  const [width, height] = known?.size ?? extent(elements, props.window ?? null);
  const window = useMemo(() => around(props.window ?? null, width, height), [props.window, width, height]);
  const [zoom, setZoom] = useState<number | "window">("window");
  const focus = zoom === "window" ? window : null;
  useLayoutEffect(() => {
    if (focus === null || view.current === null || canvas.current === null) return;
    const scale = canvas.current.clientWidth / width;
    view.current.scrollTo(focus[0] * scale, focus[1] * scale);
  }, [focus, width]);

  const order = useMemo(() => readingOrder(placed), [placed]);
  const optionId = (index: number) => `${name}-${index}`;
  const zoomTo = (wanted: number) => setZoom(Math.max(1, Math.min(CLOSEST, wanted)));
  /** From what is seen now, be it the window or the whole. */
  const zoomBy = (step: number) => {
    if (frame.current === null || canvas.current === null) return;
    const room = frame.current.parentElement?.clientWidth ?? frame.current.clientWidth;
    const fitting = Math.min(room, (TALLEST / 100) * innerHeight * (width / height));
    zoomTo((canvas.current.clientWidth / fitting) * step);
  };

  const activate = (index: number) => {
    props.onActive?.(index);
    document.getElementById(optionId(index))?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = order.findIndex((each) => each.index === active);
    const go = (place: number) => {
      const next = order[Math.max(0, Math.min(order.length - 1, place))];
      if (next) activate(next.index);
    };
    if (event.key === "ArrowRight" || event.key === "ArrowDown") go(at + 1);
    else if (event.key === "ArrowLeft" || event.key === "ArrowUp") go(at < 0 ? order.length - 1 : at - 1);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(order.length - 1);
    else if (event.key === "Enter" && active !== null) props.onOpen?.(active);
    else if (event.key === "+" || event.key === "=") zoomBy(STEP);
    else if (event.key === "-") zoomBy(1 / STEP);
    else if (event.key === "0") zoomTo(1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const [across, up] = focus ? [focus[2], focus[3]] : [width, height];
  const closer = zoom !== "window" && zoom > 1;
  const fitted = closer ? "100%" : `min(100%, ${(TALLEST * across) / up}vh)`;
  const shownActive = active !== null && placed.some((each) => each.index === active) ? active : null;
  return (
    <div class="screen" ref={frame} style={{ width: fitted }}>
      <div
        class="screen-view"
        ref={view}
        style={{ aspectRatio: focus ? `${focus[2]} / ${focus[3]}` : "auto", maxHeight: `${TALLEST}vh` }}
      >
        <div
          ref={canvas}
          class={!pictured ? "screen-canvas drawn" : known === null ? "screen-canvas loading" : "screen-canvas"}
          style={{
            width: focus
              ? `${(100 * width) / focus[2]}%`
              : `calc(${zoom === "window" ? 1 : zoom} * min(100%, ${(TALLEST * width) / height}vh))`,
            aspectRatio: `${width} / ${height}`,
          }}
        >
          {pictured ? (
            <img
              key={picture}
              src={source.picture(picture)}
              alt={props.alt}
              onLoad={({ currentTarget: image }) =>
                setLoaded({ picture, size: [image.naturalWidth, image.naturalHeight] })
              }
              onError={() => setLoaded({ picture, size: null })}
            />
          ) : (
            <p class="unseen">{props.alt}. There is no picture of it: it is drawn from its elements.</p>
          )}
          <div
            class="screen-boxes"
            role={placed.length ? "listbox" : "group"}
            tabIndex={0}
            aria-label={props.label ?? props.alt}
            aria-activedescendant={shownActive === null ? undefined : optionId(shownActive)}
            onKeyDown={onKeyDown}
          >
            {placed.map(({ element, index }) => (
              <div
                key={index}
                id={optionId(index)}
                role="option"
                aria-selected={index === active}
                aria-label={elementName(element)}
                class={boxClass(props.tone?.(element, index) ?? "", index === active, isLarge(element.box, width, height))}
                style={positioned(element.box, width, height)}
                onPointerEnter={() => props.onActive?.(index)}
                onClick={() => {
                  props.onActive?.(index);
                  props.onOpen?.(index);
                }}
              >
                {!pictured && <span aria-hidden="true">{line(element.text || element.value, 60)}</span>}
              </div>
            ))}
          </div>
          {props.mark && <div class="mark" title={props.markWords} style={positioned(props.mark, width, height)} />}
        </div>
      </div>
      <div class="screen-zoom" role="group" aria-label="Zoom">
        <button type="button" onClick={() => zoomBy(1 / STEP)} disabled={focus === null && (zoom === "window" || zoom === 1)} aria-label="Zoom out">
          −
        </button>
        <button type="button" onClick={() => zoomBy(STEP)} disabled={zoom === CLOSEST} aria-label="Zoom in">
          +
        </button>
        {window !== null && (
          <button type="button" onClick={() => setZoom("window")} aria-pressed={focus !== null}>
            Window
          </button>
        )}
        <button type="button" onClick={() => zoomTo(1)} aria-pressed={focus === null && (zoom === "window" || zoom === 1)}>
          Whole
        </button>
      </div>
    </div>
  );
}

/** A window with a margin, within the screen; null when it is nearly all of the screen. */
export function around(window: Rectangle | null, width: number, height: number): Rectangle | null {
  if (window === null || window[2] < 32 || window[3] < 32) return null;
  const left = Math.max(0, window[0] - window[2] * MARGIN);
  const top = Math.max(0, window[1] - window[3] * MARGIN);
  const right = Math.min(width, window[0] + window[2] * (1 + MARGIN));
  const bottom = Math.min(height, window[1] + window[3] * (1 + MARGIN));
  if (right <= left || bottom <= top || (right - left) * (bottom - top) > 0.9 * width * height) return null;
  return [left, top, right - left, bottom - top];
}

/** A large box is not filled, or it would hide what is in it. */
function isLarge(box: Rectangle, width: number, height: number): boolean {
  return box[2] * box[3] > LARGE * width * height;
}

function boxClass(tone: string, active: boolean, large: boolean): string {
  return ["box", tone, ...(active ? ["active"] : []), ...(large ? ["large"] : [])].filter(Boolean).join(" ");
}

/** An element in a few words. */
export function elementName(element: ElementInfo): string {
  const text = line(element.text, 80);
  return text ? `${element.role} “${text}”` : element.role;
}

/** Where a box is, as shares of the picture, so that it stays there at every zoom. */
export function positioned([x, y, w, h]: Rectangle, width: number, height: number): CSSProperties {
  const share = (value: number, of: number) => `${((value / of) * 100).toFixed(4)}%`;
  return { left: share(x, width), top: share(y, height), width: share(w, width), height: share(h, height) };
}
