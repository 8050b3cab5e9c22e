import { Agent, fetch, type Response } from "undici";

/** Browsers keep their connections for minutes, too. */
const CONNECTIONS = new Agent({ keepAliveTimeout: 60_000 });

/** What the screen of posts reads again when a post has changed. */
const SHOWN = ["/api/v1/posts?limit=20", "/app/api/overview"];
const CHANGES = /"type":"(?:post|resync)","id":null/;
/** As in the dashboard's `live-events.ts`. */
const GATHER_MS = 200;
const SPREAD_MS = 20;

/**
 * A page of the dashboard that shows the posts: it follows the stream of hints, and reads what it
 * shows again after them, as often and with the same headers as a browser would.
 */
export class OpenPage {
  readonly #tags = new Map<string, string>();
  readonly #origin: string;
  readonly #cookie: string;
  readonly #signal: AbortSignal;
  #isWaiting = false;
  hints = 0;
  reads = 0;
  /** Reads that were not answered with what was asked for. */
  refused = 0;

  constructor(origin: string, cookie: string, signal: AbortSignal) {
    [this.#origin, this.#cookie, this.#signal] = [origin, cookie, signal];
  }

  /** Returns when the stream is open. */
  async open(): Promise<void> {
    const stream = await this.#get("/app/api/events");
    if (!stream.ok) throw new Error(`no stream: ${await stream.text()}`);
    void this.#follow(stream).catch(() => undefined);
  }

  async #follow({ body }: Response): Promise<void> {
    const decoder = new TextDecoder();
    for await (const part of body ?? []) {
      const text = decoder.decode(part as Uint8Array);
      this.hints += text.split("data: ").length - 1;
      if (CHANGES.test(text)) this.#plan();
    }
  }

  #plan(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setTimeout(
      () => {
        this.#isWaiting = false;
        for (const path of SHOWN) void this.#read(path).catch(() => undefined);
      },
      GATHER_MS + Math.random() * SPREAD_MS,
    );
  }

  async #read(path: string): Promise<void> {
    const tag = this.#tags.get(path);
    const answer = await this.#get(path, tag === undefined ? {} : { "if-none-match": tag });
    await answer.arrayBuffer();
    this.reads += 1;
    this.refused += answer.ok || answer.status === 304 ? 0 : 1;
    this.#tags.set(path, answer.headers.get("etag") ?? tag ?? "");
  }

  #get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(`${this.#origin}${path}`, {
      headers: { cookie: this.#cookie, ...headers },
      signal: this.#signal,
      dispatcher: CONNECTIONS,
    });
  }
}
