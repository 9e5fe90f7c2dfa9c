/** The screens before and after an action: beside each other, one over the other, or what changed. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Rectangle, TransitionInfo } from "../../api/types";
import { count, share } from "../../format";
import { differ } from "../../logic/pixels";
import { Choice } from "../../parts/Choice";
import { positioned, Screen } from "../../parts/Screen";
import { Empty } from "../../parts/states";
import { useViewer } from "../../viewer";

export type Way = "beside" | "slide" | "difference";

export const WAYS: readonly { key: Way; words: string }[] = [
  { key: "beside", words: "Side by side" },
  { key: "slide", words: "Slide" },
  { key: "difference", words: "What changed" },
];

export interface BeforeAfterProps {
  transition: TransitionInfo;
  way: Way;
  onWay: (way: Way) => void;
}

export function BeforeAfter({ transition, way, onWay }: BeforeAfterProps) {
  const { before, after, sequence, acted_on } = transition;
  if (before === null && after === null) return <Empty title="No pictures were kept of this transition." />;
  const both = before !== null && after !== null;
  const shown = both ? way : "beside";
  return (
    <div class="before-after">
      <Choice
        label="Show"
        value={shown}
        options={WAYS.map((each) => ({ ...each, disabled: !both && each.key !== "beside" }))}
        onChoose={onWay}
      />
      {shown === "beside" && (
        <div class="pair">
          <figure>
            <figcaption>before{acted_on ? "; marked: what was acted on" : ""}</figcaption>
            {before === null ? (
              <Empty title="No picture was kept." />
            ) : (
              <Screen alt={`Screen before entry ${sequence}`} picture={before} elements={[]} mark={acted_on} />
            )}
          </figure>
          <figure>
            <figcaption>after</figcaption>
            {after === null ? (
              <Empty title="No picture was kept." />
            ) : (
              <Screen alt={`Screen after entry ${sequence}`} picture={after} elements={[]} />
            )}
          </figure>
        </div>
      )}
      {shown === "slide" && both && <Slide before={before} after={after} sequence={sequence} acted={acted_on} />}
      {shown === "difference" && both && <Changed before={before} after={after} />}
    </div>
  );
}

function Slide(props: { before: string; after: string; sequence: number; acted: Rectangle | null }) {
  const { source } = useViewer();
  const [place, setPlace] = useState(50);
  const [size, setSize] = useState<[number, number] | null>(null);
  return (
    <div class="slide">
      <label class="row">
        <span>before</span>
        <input
          type="range"
          class="grow"
          min={0}
          max={100}
          value={place}
          aria-label="How much of the screen after is shown"
          aria-valuetext={`${place} % of the screen after`}
          onInput={(event) => setPlace(Number(event.currentTarget.value))}
        />
        <span>after</span>
        <button type="button" onClick={() => setPlace(place >= 50 ? 0 : 100)}>
          Flip
        </button>
      </label>
      <div class="slide-pictures">
        <img
          src={source.picture(props.before)}
          alt={`Screen before entry ${props.sequence}`}
          onLoad={(event) => setSize([event.currentTarget.naturalWidth, event.currentTarget.naturalHeight])}
        />
        {props.acted && size && <div class="mark" style={positioned(props.acted, ...size)} />}
        <img
          class="slide-after"
          src={source.picture(props.after)}
          alt={`Screen after entry ${props.sequence}`}
          style={{ clipPath: `inset(0 ${100 - place}% 0 0)` }}
        />
        <div class="slide-edge" style={{ left: `${place}%` }} />
      </div>
    </div>
  );
}

type Comparing =
  | { kind: "waiting" }
  | { kind: "failed"; why: string }
  | { kind: "done"; changed: number; of: number; box: readonly number[] | null };

function Changed({ before, after }: { before: string; after: string }) {
  const { source } = useViewer();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [comparing, setComparing] = useState<Comparing>({ kind: "waiting" });
  useEffect(() => {
    let gone = false;
    setComparing({ kind: "waiting" });
    Promise.all([pixelsOf(source.picture(before)), pixelsOf(source.picture(after))])
      .then(([first, second]) => {
        const target = canvas.current;
        if (gone || target === null) return;
        if (first.width !== second.width || first.height !== second.height) {
          throw new Error("The two pictures differ in size.");
        }
        const { image, changed, box } = differ(first.data, second.data, first.width);
        target.width = first.width;
        target.height = first.height;
        target.getContext("2d")?.putImageData(new ImageData(image, first.width, first.height), 0, 0);
        setComparing({ kind: "done", changed, of: first.width * first.height, box });
      })
      .catch((problem: unknown) => {
        if (!gone) setComparing({ kind: "failed", why: problem instanceof Error ? problem.message : String(problem) });
      });
    return () => {
      gone = true;
    };
  }, [source, before, after]);
  const words =
    comparing.kind === "waiting"
      ? "Comparing the two pictures…"
      : comparing.kind === "failed"
        ? `They could not be compared. ${comparing.why}`
        : comparing.changed === 0
          ? "Not one pixel changed."
          : `${count(comparing.changed)} pixels changed, ${share(comparing.changed / comparing.of)} of the screen, ` +
            `within ${(comparing.box ?? []).join(", ")} (x, y, width, height).`;
  return (
    <div>
      <p role="status">{words}</p>
      <canvas ref={canvas} class="changed" role="img" aria-label="Changed pixels in colour over the screen before" />
    </div>
  );
}

async function pixelsOf(address: string): Promise<ImageData> {
  const image = new Image();
  image.src = address;
  try {
    await image.decode();
  } catch {
    throw new Error("A picture could not be loaded.");
  }
  const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("This browser has no canvas.");
  context.drawImage(image, 0, 0);
  try {
    return context.getImageData(0, 0, canvas.width, canvas.height);
  } catch {
    throw new Error("A browser does not let a page from disk read pictures beside it; `screensearch view` can.");
  }
}
