export type Fetched =
  | { readonly kind: "file"; readonly contentType: string; readonly bytes: Buffer }
  | {
      readonly kind: "failed";
      readonly reason: "bad_address" | "unreachable" | "redirect" | "status" | "too_large";
    };

export type FetchedFiles = ReadonlyMap<string, Fetched>;

export const NOTHING_FETCHED: FetchedFiles = new Map();

const FETCH_TIMEOUT_MS = 60_000;
const MAX_BYTES = 1_100_000_000;

function failed(reason: Extract<Fetched, { kind: "failed" }>["reason"]): Fetched {
  return { kind: "failed", reason };
}

async function readAll(body: ReadableStream<Uint8Array> | null): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function toFetched(answer: Response): Promise<Fetched> {
  if (answer.status !== 200) {
    await answer.body?.cancel();
    return failed(answer.status >= 300 && answer.status < 400 ? "redirect" : "status");
  }
  const bytes = await readAll(answer.body);
  const [contentType = ""] = (answer.headers.get("content-type") ?? "").split(";", 1);
  return bytes === undefined
    ? failed("too_large")
    : { kind: "file", contentType: contentType.trim().toLowerCase(), bytes };
}

async function fetchOne(url: string, signal: AbortSignal): Promise<Fetched> {
  if (!/^https?:\/\//.test(url) || URL.parse(url) === null) return failed("bad_address");
  try {
    const answer = await fetch(url, {
      redirect: "manual",
      headers: { accept: "*/*", "user-agent": "facebookexternalhit/1.1" },
      signal: AbortSignal.any([signal, AbortSignal.timeout(FETCH_TIMEOUT_MS)]),
    });
    return await toFetched(answer);
  } catch {
    signal.throwIfAborted();
    return failed("unreachable");
  }
}

/** Without cookies, tokens or redirects, as the media fetchers of the real platforms do. */
export async function fetchMedia(
  urls: readonly string[],
  signal: AbortSignal,
): Promise<FetchedFiles> {
  const files = urls.map(async (url) => [url, await fetchOne(url, signal)] as const);
  return new Map(await Promise.all(files));
}
