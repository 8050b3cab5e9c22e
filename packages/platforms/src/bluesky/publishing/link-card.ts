import type { OutboundClient } from "@postrider/shared/http/outbound-client";

export type PageReader = Pick<OutboundClient, "send">;

/** Bluesky does not fetch the linked page itself. */
export interface LinkCard {
  readonly uri: string;
  readonly title: string;
  readonly description: string;
  readonly imageUrl?: string;
}

export interface CardImage {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

const READ_TIMEOUT_MS = 3_000;
const MAX_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;
const MAX_IMAGE_BYTES = 1_000_000;
const IMAGE_TYPE = /^image\/(?:jpeg|png|webp)\b/i;
const MAX_TITLE = 300;
const MAX_DESCRIPTION = 1_000;

/**
 * Every repetition in these patterns for HTML is bounded, so that no linked page can use much
 * processor time.
 */
const META = /<meta\s[^<>]{1,4000}>/gi;
const ATTRIBUTE = /([a-z:_-]{1,40})\s{0,10}=\s{0,10}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;
const TITLE = /<title[^<>]{0,200}>([^<]{0,4000})<\/title>/i;
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi;
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

function decodeEntity(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

/** A page can contain control characters, NUL among them, which do not belong into a record. */
const SPACES_AND_CONTROLS = /[\s\p{Cc}]+/gu;

function clean(text: string, maxLength: number): string {
  const decoded = text
    .replace(ENTITY, decodeEntity)
    .toWellFormed()
    .replaceAll(SPACES_AND_CONTROLS, " ")
    .trim();
  // The cut may leave half of a character of two UTF-16 units at the end.
  return decoded.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "");
}

function readMeta(html: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [tag] of html.matchAll(META)) {
    const attributes = new Map(
      [...tag.matchAll(ATTRIBUTE)].map(([, name = "", ...values]) => [
        name.toLowerCase(),
        values.find((value) => value !== undefined) ?? "",
      ]),
    );
    const name = (attributes.get("property") ?? attributes.get("name") ?? "").toLowerCase();
    const content = attributes.get("content");
    if (name !== "" && content !== undefined && !found.has(name)) found.set(name, content);
  }
  return found;
}

export function toCard(uri: string, html: string): LinkCard {
  const meta = readMeta(html);
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => meta.get(name)).find((value) => value !== undefined);
  const title = first("og:title", "twitter:title") ?? TITLE.exec(html)?.[1] ?? "";
  const description = first("og:description", "twitter:description", "description") ?? "";
  const imageUrl = toImageUrl(first("og:image", "twitter:image"), uri);
  return {
    uri,
    title: clean(title, MAX_TITLE) || new URL(uri).hostname,
    description: clean(description, MAX_DESCRIPTION),
    ...(imageUrl === undefined ? {} : { imageUrl }),
  };
}

function toImageUrl(named: string | undefined, pageUrl: string): string | undefined {
  const address = clean(named ?? "", 2_000);
  return address === "" ? undefined : URL.parse(address, pageUrl)?.href;
}

async function readHead(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_BYTES) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * A page that cannot be read, or is not HTML, has no card. Throws the reason of `signal`, so that a
 * stopping process does not publish the post without its card.
 */
export async function fetchCard(
  client: PageReader,
  uri: string,
  signal: AbortSignal,
): Promise<LinkCard | undefined> {
  try {
    await using answer = await client.send({
      method: "GET",
      url: uri,
      headers: { accept: "text/html" },
      redirects: MAX_REDIRECTS,
      totalMs: READ_TIMEOUT_MS,
      signal,
    });
    const type = answer.headers["content-type"];
    const isPage = typeof type === "string" && /^text\/html\b/i.test(type);
    return answer.status === 200 && isPage ? toCard(uri, await readHead(answer.body)) : undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** Undefined when Bluesky would not accept the picture unchanged. Throws the reason of `signal`. */
export async function fetchCardImage(
  client: PageReader,
  url: string,
  signal: AbortSignal,
): Promise<CardImage | undefined> {
  try {
    await using answer = await client.send({
      method: "GET",
      url,
      headers: { accept: "image/jpeg, image/png, image/webp" },
      redirects: MAX_REDIRECTS,
      totalMs: READ_TIMEOUT_MS,
      maxBytes: MAX_IMAGE_BYTES,
      signal,
    });
    const type = answer.headers["content-type"];
    if (answer.status !== 200 || typeof type !== "string" || !IMAGE_TYPE.test(type))
      return undefined;
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    return { contentType: (type.split(";")[0] ?? type).trim(), bytes: Buffer.concat(chunks) };
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
