/** Answers that a report carries: a table in its page, or scripts beside it that are loaded when asked for. */

import { findWords, snippetOf, wordsOf } from "./find";
import { LeftOut, NotAnswered, Source, type Paging, type ReportInfo } from "./source";
import type { EdgePage, Hit, Hits, Live, StateBrief } from "./types";

/**
 * What `<script type="application/json" id="screensearch-report">` holds. Addresses are those of the API and of
 * pictures. An address that is only in `files` comes from the script named there, which hands over its answers
 * as JSON, by calling `screensearchData("{address: answer, …}")`: a page from disk may load scripts but not fetch.
 */
export interface ReportData {
  answers: Record<string, unknown>;
  pictures: Record<string, string>;
  files?: Record<string, string>;
  created?: string;
  /** A sentence for each thing that the viewer has and the report has not. */
  lacks?: string[];
}

/** What the report's own search looks through: the same place in both lists belongs together. */
interface Texts {
  run: string;
  states: StateBrief[];
  texts: string[];
}

declare global {
  // eslint-disable-next-line no-var
  var screensearchData: ((answers: string) => void) | undefined;
}

export class EmbeddedSource extends Source {
  readonly embedded = true;
  private readonly answers: Map<string, unknown>;
  private readonly files: Map<string, string>;
  private readonly pictures: Map<string, string>;
  private readonly loading = new Map<string, Promise<void>>();
  private sought: string[][] | null = null; // made when it is first searched

  constructor(private readonly data: ReportData) {
    super();
    this.answers = new Map(Object.entries(data.answers));
    this.files = new Map(Object.entries(data.files ?? {}));
    this.pictures = new Map(Object.entries(data.pictures));
    globalThis.screensearchData = (answers) => {
      const parsed = JSON.parse(answers) as Record<string, unknown>;
      for (const [address, answer] of Object.entries(parsed)) this.answers.set(address, answer);
    };
  }

  protected async get<T>(address: string): Promise<T> {
    const plain = address.replace(/\?.*$/, "");
    for (const candidate of [address, plain]) {
      if (this.answers.has(candidate)) return this.answers.get(candidate) as T;
      const file = this.files.get(candidate);
      if (file !== undefined) {
        await this.load(file);
        if (this.answers.has(candidate)) return this.answers.get(candidate) as T;
      }
    }
    throw new LeftOut(
      "This was left out of the report. `screensearch view` shows it, from the run the report was made of.",
      404,
    );
  }

  override get report(): ReportInfo {
    return { created: this.data.created ?? "", lacks: this.data.lacks ?? [] };
  }

  /** A picture that is not here is one that cannot be loaded: the page then says so in its place. */
  picture(address: string): string {
    return this.pictures.get(address) ?? "data:,";
  }

  /** A report has the transitions of all actions together: those of one are picked here. */
  override async edge(
    run: string, source: number, target: number, options: Paging & { signature?: string | null } = {},
  ): Promise<EdgePage> {
    const edge = await super.edge(run, source, target);
    const { signature } = options;
    const action = edge.actions.find((each) => each.signature === signature);
    if (!signature || !action) return edge;
    const transitions = edge.transitions.filter((each) => each.signature === signature);
    return { ...edge, signature, total: action.count, transitions };
  }

  override async search(query: string, options: { run?: string | null; limit?: number } = {}): Promise<Hits> {
    const { run, states, texts } = this.answers.get("report/texts") as Texts;
    this.sought ??= states.map((state, place) => wordsOf(`${state.title}\n${texts[place] ?? ""}`));
    const places = findWords(query, this.sought);
    const hits = places.slice(0, options.limit ?? 50).flatMap(({ place, score }, rank): Hit[] => {
      const state = states[place];
      const snippet = snippetOf(query, texts[place] ?? "");
      return state ? [{ run, state, score, by_words: rank + 1, by_meaning: null, snippet }] : [];
    });
    return { query, hits };
  }

  live(_onLive: (event: Live) => void, _onConnected: (connected: boolean) => void): () => void {
    return () => undefined;
  }

  private load(file: string): Promise<void> {
    let loading = this.loading.get(file);
    if (loading === undefined) {
      loading = new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = file;
        script.onload = () => resolve();
        script.onerror = () => reject(new NotAnswered(`The report's file ${file} is missing; keep its folder together.`));
        document.head.append(script);
      });
      this.loading.set(file, loading);
    }
    return loading;
  }
}

/** The report's data, if this page is one. */
export function reportData(): ReportData | null {
  const element = document.getElementById("screensearch-report");
  return element?.textContent ? (JSON.parse(element.textContent) as ReportData) : null;
}
