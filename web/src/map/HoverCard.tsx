/** What the pointer is on: the picture and the figures, beside the pointer. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { Thumbnail } from "../parts/Picture";
import { count, decimal, line } from "../format";
import { runOf, wordOf, type Scene } from "./scene";

export function HoverCard({ scene, place, x, y }: { scene: Scene; place: number; x: number; y: number }) {
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = card.current;
    const around = element?.parentElement;
    if (!element || !around) return;
    const left = x + 18 + element.offsetWidth > around.clientWidth ? x - 18 - element.offsetWidth : x + 18;
    const top = Math.min(Math.max(y - 40, 8), around.clientHeight - element.offsetHeight - 8);
    element.style.transform = `translate(${Math.max(left, 4)}px, ${Math.max(top, 4)}px)`;
  });
  const crashes = scene.crashes[place] ?? 0;
  return (
    <div class="hover-card" ref={card} aria-hidden="true">
      {scene.picture[place] === 1 && <Thumbnail key={place} run={runOf(scene, place)} state={scene.id[place] ?? 0} />}
      <div class="hover-title">
        <span class="muted">{scene.id[place]}</span> {line(scene.title[place] ?? "", 80)}
      </div>
      <div class="muted small">{line(wordOf(scene, "window", place), 60)}</div>
      <div class="small">
        u = {decimal(scene.ambiguity[place] ?? 0)} · {count(scene.visits[place] ?? 0)} visits
        {crashes > 0 && <span class="bad"> · {count(crashes)} failed</span>}
      </div>
    </div>
  );
}
