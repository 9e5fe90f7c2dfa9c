import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HttpSource } from "../src/api/source";
import type { Live } from "../src/api/types";
import { useFollowing } from "../src/parts/following";
import { ViewerContext, type Viewer } from "../src/viewer";

interface Question {
  answer: (words: string) => void;
  signal: AbortSignal;
}

const source = new HttpSource();
let questions: Question[];
let place: HTMLElement;

function Page() {
  const answer = useFollowing("demo", "page", (_source, signal) =>
    new Promise<string>((answer) => questions.push({ answer, signal })),
  );
  return <p>{answer.status === "ready" ? answer.value : answer.status}</p>;
}

/** Draw the page as it is when the run has so many entries. */
async function at(sequence: number): Promise<void> {
  const live = new Map<string, Live>([["demo", { run: "demo", sequence, states: 1, edges: 1, live: true }]]);
  const viewer: Viewer = { source, runs: [], live, paused: false, setPaused: () => undefined };
  await act(() => {
    render(
      <ViewerContext.Provider value={viewer}>
        <Page />
      </ViewerContext.Provider>,
      place,
    );
  });
}

async function answered(question: Question, words: string): Promise<void> {
  await act(async () => {
    question.answer(words);
    await Promise.resolve();
  });
}

async function passed(milliseconds: number): Promise<void> {
  await act(() => {
    vi.advanceTimersByTime(milliseconds);
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  questions = [];
  place = document.createElement("div");
  document.body.append(place);
});

afterEach(async () => {
  await act(() => render(null, place));
  place.remove();
  vi.useRealTimers();
});

test("news do not drop the question under way, however many come", async () => {
  for (let sequence = 1; sequence <= 20; sequence += 1) {
    await at(sequence);
    await passed(1000);
  }
  expect(questions).toHaveLength(1);
  expect(questions[0]!.signal.aborted).toBe(false);
  await answered(questions[0]!, "first answer");
  expect(place.textContent).toBe("first answer");
});

test("after an answer the newest is asked for, and the old one stays until it comes", async () => {
  await at(1);
  await answered(questions[0]!, "old");
  await at(2);
  await at(3);
  expect(questions).toHaveLength(1);
  await passed(5000);
  expect(questions).toHaveLength(2);
  expect(place.textContent).toBe("old");
  await answered(questions[1]!, "new");
  expect(place.textContent).toBe("new");
});

test("without news nothing is asked again", async () => {
  await at(1);
  await answered(questions[0]!, "all");
  await passed(60_000);
  expect(questions).toHaveLength(1);
});
