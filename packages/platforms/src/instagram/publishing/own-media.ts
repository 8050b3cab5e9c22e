import { toGraphRequest, type GraphApi } from "#src/graph/graph-call.ts";
import { callPlatform } from "#src/http/http.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import type { AccountAccess, Publication } from "#src/publishing/connector.ts";

const PAGE_SIZE = 50;
const MAX_PAGES = 20;
const LOOK_UP_MS = 5000;

/** A post of the account, as Instagram lists it. */
export interface OwnMedia {
  readonly id: string;
  readonly caption: string;
  readonly mediaType: string;
  readonly permalink: string | null;
  readonly createdAt: number;
}

function toOwnMedia(entry: unknown): OwnMedia {
  return {
    id: text(entry, "id") ?? "",
    caption: text(entry, "caption") ?? "",
    mediaType: text(entry, "media_type") ?? "",
    permalink: text(entry, "permalink") ?? null,
    createdAt: Date.parse(text(entry, "timestamp") ?? ""),
  };
}

/** The account's own posts since that moment, newest first; undefined unless all of them were read. */
export async function listOwnMedia(
  api: GraphApi,
  account: AccountAccess,
  since: Date,
  signal: AbortSignal,
): Promise<readonly OwnMedia[] | undefined> {
  const found: OwnMedia[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = {
      fields: "id,caption,timestamp,permalink,media_type",
      limit: String(PAGE_SIZE),
      ...(after === undefined ? {} : { after }),
    };
    const path = `${encodeURIComponent(account.externalId)}/media`;
    const call = toGraphRequest(api, account, { method: "GET", path, query });
    const answer = await callPlatform(call, signal);
    if (answer.kind === "no_answer" || answer.status !== 200) return undefined;
    if (!Array.isArray(answer.json?.data)) return undefined;
    const entries = list(answer.json, "data").map(toOwnMedia);
    found.push(...entries.filter(({ createdAt }) => createdAt >= since.getTime()));
    const isOver = entries.some(({ createdAt }) => createdAt < since.getTime());
    const paging = object(answer.json, "paging");
    after = text(object(paging, "cursors"), "after");
    if (isOver || after === undefined || text(paging, "next") === undefined) return found;
  }
  return undefined;
}

function mediaTypeOf({ media }: Publication): string {
  if (media.length > 1) return "CAROUSEL_ALBUM";
  return media[0]?.kind === "video" ? "VIDEO" : "IMAGE";
}

function fold(caption: string): string {
  return caption.normalize("NFC").replaceAll(/\s+/g, " ").trim();
}

/** The ones that may be the publication: same caption, same kind. */
export function listTwins(
  publication: Publication,
  entries: readonly OwnMedia[],
): readonly OwnMedia[] {
  const caption = fold(publication.text);
  const type = mediaTypeOf(publication);
  return entries.filter((entry) => entry.mediaType === type && fold(entry.caption) === caption);
}

/** Where readers see a post that was just published; null when Instagram does not say so at once, which fails nothing. */
export async function findPermalink(
  api: GraphApi,
  account: AccountAccess,
  id: string,
  withinMs: number,
): Promise<string | null> {
  const limitMs = Math.floor(Math.min(LOOK_UP_MS, withinMs));
  if (limitMs <= 0) return null;
  const query = { fields: "permalink" };
  const call = { method: "GET", path: encodeURIComponent(id), query } as const;
  const signal = AbortSignal.timeout(limitMs);
  const answer = await callPlatform(toGraphRequest(api, account, call), signal);
  if (answer.kind === "no_answer") return null;
  return answer.status === 200 ? (text(answer.json, "permalink") ?? null) : null;
}
