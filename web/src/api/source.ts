/** Where answers come from: a server, or the data that a report carries. The addresses are the same. */

import type {
  Ambiguities, Difference, EdgePage, Explanation, Figures, Findings, Hits, Live, Map as StateMap, Observations,
  Path, Runs, StatePage,
} from "./types";

export type Parameters = Record<string, string | number | null | undefined>;

/** A question that was not answered; its message is written for people. */
export class NotAnswered extends Error {
  override name = "NotAnswered";

  constructor(message: string, readonly status: number = 0) {
    super(message);
  }
}

/** A question that a report has no answer to, and the viewer has: nothing is wrong. */
export class LeftOut extends NotAnswered {
  override name = "LeftOut";
}

export abstract class Source {
  /** True in a report: nothing goes on, and only what was embedded can be asked for. */
  abstract readonly embedded: boolean;

  /** What a report says about itself; null where a server answers. */
  get report(): ReportInfo | null {
    return null;
  }

  protected abstract get<T>(address: string, signal?: AbortSignal): Promise<T>;

  /** The address to show a picture with. */
  abstract picture(address: string): string;

  /** Whether anybody is there to answer. */
  isThere(): Promise<boolean> {
    return Promise.resolve(true);
  }

  /** Calls back at each change of a run; returns what ends it. */
  abstract live(onLive: (event: Live) => void, onConnected: (connected: boolean) => void): () => void;

  runs(signal?: AbortSignal): Promise<Runs> {
    return this.get("api/runs", signal);
  }

  map(run: string, signal?: AbortSignal): Promise<StateMap> {
    return this.get(`${inRun(run)}/map`, signal);
  }

  state(run: string, state: number, signal?: AbortSignal): Promise<StatePage> {
    return this.get(`${inRun(run)}/states/${state}`, signal);
  }

  observations(run: string, state: number, page: Paging = {}, signal?: AbortSignal): Promise<Observations> {
    return this.get(withQuery(`${inRun(run)}/states/${state}/observations`, { ...page }), signal);
  }

  similar(run: string, state: number, limit?: number, signal?: AbortSignal): Promise<Hits> {
    return this.get(withQuery(`${inRun(run)}/states/${state}/similar`, { limit }), signal);
  }

  path(run: string, state: number, signal?: AbortSignal): Promise<Path> {
    return this.get(`${inRun(run)}/states/${state}/path`, signal);
  }

  edge(
    run: string, source: number, target: number, options: Paging & { signature?: string | null } = {},
    signal?: AbortSignal,
  ): Promise<EdgePage> {
    return this.get(withQuery(`${inRun(run)}/edges/${source}/${target}`, { ...options }), signal);
  }

  figures(run: string, signal?: AbortSignal): Promise<Figures> {
    return this.get(`${inRun(run)}/figures`, signal);
  }

  findings(run: string, signal?: AbortSignal): Promise<Findings> {
    return this.get(`${inRun(run)}/findings`, signal);
  }

  ambiguities(run: string, signal?: AbortSignal): Promise<Ambiguities> {
    return this.get(`${inRun(run)}/ambiguities`, signal);
  }

  /** Two of `12` (a state) or `@345` (an entry); or an entry alone, to explain its decision. */
  explain(run: string, first: string, second?: string | null, signal?: AbortSignal): Promise<Explanation> {
    const names = second ? [first, second] : [first];
    return this.get(`${inRun(run)}/explain/${names.map(escaped).join("/")}`, signal);
  }

  search(
    query: string, options: { run?: string | null; limit?: number } = {}, signal?: AbortSignal,
  ): Promise<Hits> {
    return this.get(withQuery("api/search", { q: query, ...options }), signal);
  }

  difference(first: string, second: string, signal?: AbortSignal): Promise<Difference> {
    return this.get(`api/difference/${escaped(first)}/${escaped(second)}`, signal);
  }

  /** The small picture of a state's founding screen. */
  thumbnail(run: string, state: number): string {
    return this.picture(`runs/${escaped(run)}/thumbnails/${state}`);
  }
}

export interface ReportInfo {
  created: string;
  lacks: string[];
}

export interface Paging {
  offset?: number;
  limit?: number;
}

const AGAIN = 500; // milliseconds before a question that got through to nobody is asked once more

/** Asks the server that the page came from. */
export class HttpSource extends Source {
  readonly embedded = false;

  protected async get<T>(address: string, signal?: AbortSignal): Promise<T> {
    let response: Response;
    try {
      response = await this.asked(address, signal);
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new NotAnswered("The viewer does not answer. Is `screensearch view` still running? Start it again and reload.");
    }
    if (response.ok) return (await response.json()) as T;
    throw new NotAnswered(await problemOf(response), response.status);
  }

  /** Twice if need be: a browser drops what is under way when the machine joins or leaves a network. */
  private async asked(address: string, signal?: AbortSignal): Promise<Response> {
    const ask = () => fetch(address, { ...(signal ? { signal } : {}), headers: { accept: "application/json" } });
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted) throw error;
      await new Promise((later) => setTimeout(later, AGAIN));
      return ask();
    }
  }

  picture(address: string): string {
    return address;
  }

  override isThere(): Promise<boolean> {
    return fetch("api/runs", { method: "HEAD" }).then(() => true, () => false);
  }

  live(onLive: (event: Live) => void, onConnected: (connected: boolean) => void): () => void {
    const events = new EventSource("api/live");
    events.onopen = () => onConnected(true);
    events.onerror = () => onConnected(false);
    events.onmessage = (event: MessageEvent<string>) => onLive(JSON.parse(event.data) as Live);
    return () => events.close();
  }
}

async function problemOf(response: Response): Promise<string> {
  try {
    const answer = (await response.json()) as { problem?: unknown };
    if (typeof answer.problem === "string") return answer.problem;
  } catch {
    // Not JSON: the status says what there is to say.
  }
  if (response.status === 403) {
    return "The viewer does not know this browser. Open the address that `screensearch view` printed, with its token.";
  }
  return `The viewer answered ${response.status} ${response.statusText} to ${new URL(response.url).pathname}.`;
}

export function withQuery(address: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `${address}?${text}` : address;
}

function inRun(run: string): string {
  return `api/runs/${escaped(run)}`;
}

function escaped(part: string): string {
  return encodeURIComponent(part).replace(/%40/g, "@");
}
