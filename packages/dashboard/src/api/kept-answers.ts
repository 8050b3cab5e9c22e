interface Kept {
  readonly tag: string;
  readonly text: string;
  readonly at: number;
}

/** Length of all kept answers together. */
const MAX_LENGTH = 8_000_000;
/** An unchanged answer may name addresses of files, which end a day after they were made. */
const MAX_AGE_MS = 3_600_000;

/**
 * Like `fetch`, and asks for what it has read before only if that has changed (`If-None-Match`): an
 * unchanged answer comes without a body, and is given as it was read. Nothing is kept but in the
 * memory of this page.
 */
export function createConditionalFetch(
  send: typeof fetch,
  now: () => number = Date.now,
): typeof fetch {
  const keptAnswers = new Map<string, Kept>();
  return async (input, init = {}) => {
    const headers = new Headers(init.headers);
    const address = readAddress(input, init.method);
    if (address === undefined || headers.has("if-none-match")) return await send(input, init);
    const name = `${headers.get("accept-language")} ${address}`;
    const kept = keptAnswers.get(name);
    const known = kept !== undefined && now() - kept.at < MAX_AGE_MS ? kept : undefined;
    if (known !== undefined) headers.set("if-none-match", known.tag);
    const response = await send(input, { ...init, headers });
    if (known !== undefined && response.status === 304) return toAnswer(known.text, response);
    const tag = tagOf(response);
    if (tag === null) return response;
    const text = await response.text();
    keptAnswers.delete(name);
    keptAnswers.set(name, { tag, text, at: now() });
    forgetOldest(keptAnswers);
    return toAnswer(text, response);
  };
}

/** Undefined for a write. */
function readAddress(input: RequestInfo | URL, method = "GET"): string | undefined {
  if (method !== "GET" || input instanceof Request) return undefined;
  return typeof input === "string" ? input : input.href;
}

/** Of an answer that can be kept. */
function tagOf({ status, headers }: Response): string | null {
  const isJson = headers.get("content-type")?.startsWith("application/json") === true;
  return status === 200 && isJson ? headers.get("etag") : null;
}

function forgetOldest(keptAnswers: Map<string, Kept>): void {
  let length = [...keptAnswers.values()].reduce((sum, { text }) => sum + text.length, 0);
  for (const [oldest, { text }] of keptAnswers) {
    if (length <= MAX_LENGTH) return;
    keptAnswers.delete(oldest);
    length -= text.length;
  }
}

function toAnswer(text: string, response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set("content-type", "application/json");
  return new Response(text, { status: 200, headers });
}
