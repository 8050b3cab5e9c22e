import { isMissing } from "#src/graph-api/failures.ts";
import { type GraphApi, toGraphRequest } from "#src/graph-api/graph-request.ts";
import { callPlatform } from "#src/http/call-platform.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";
import { normalizeText } from "#src/text/normalize-text.ts";

const PAGE_SIZE = 50;
const MAX_PAGES = 20;
const READ_TIMEOUT_MS = 5000;

export interface AccountMedia {
  readonly id: string;
  readonly caption: string;
  readonly mediaType: string;
  readonly permalink: string | null;
  readonly createdAt: number;
}

function toAccountMedia(entry: unknown): AccountMedia {
  return {
    id: text(entry, "id") ?? "",
    caption: text(entry, "caption") ?? "",
    mediaType: text(entry, "media_type") ?? "",
    permalink: text(entry, "permalink") ?? null,
    createdAt: Date.parse(text(entry, "timestamp") ?? ""),
  };
}

export async function listAccountMedia(
  api: GraphApi,
  account: AccountAccess,
  since: Date,
  signal: AbortSignal,
): Promise<readonly AccountMedia[] | undefined> {
  const found: AccountMedia[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = {
      fields: "id,caption,timestamp,permalink,media_type",
      limit: String(PAGE_SIZE),
      after,
    };
    const path = `${encodeURIComponent(account.externalId)}/media`;
    const call = toGraphRequest(api, account, { method: "GET", path, query });
    const answer = await callPlatform(call, signal);
    if (answer.kind === "no_answer" || answer.status !== 200) return undefined;
    if (!Array.isArray(answer.json?.data)) return undefined;
    const entries = list(answer.json, "data").map(toAccountMedia);
    // A post whose time cannot be read stays in the list, because it may be the post that is
    // searched for.
    found.push(...entries.filter(({ createdAt }) => !(createdAt < since.getTime())));
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

export function listMatchingMedia(
  publication: Publication,
  entries: readonly AccountMedia[],
): readonly AccountMedia[] {
  const caption = normalizeText(publication.text);
  const type = mediaTypeOf(publication);
  return entries.filter(
    (entry) => entry.mediaType === type && normalizeText(entry.caption) === caption,
  );
}

/** Null when the link cannot be read in time; the post counts as published anyway. */
export async function findPermalink(
  api: GraphApi,
  account: AccountAccess,
  id: string,
  withinMs: number,
): Promise<string | null> {
  const limitMs = Math.floor(Math.min(READ_TIMEOUT_MS, withinMs));
  if (limitMs <= 0) return null;
  const query = { fields: "permalink" };
  const call = { method: "GET", path: encodeURIComponent(id), query } as const;
  const signal = AbortSignal.timeout(limitMs);
  const answer = await callPlatform(toGraphRequest(api, account, call), signal);
  if (answer.kind === "no_answer") return null;
  if (isMissing(answer)) return await findListedPermalink(api, account, id, signal);
  return answer.status === 200 ? (text(answer.json, "permalink") ?? null) : null;
}

/** Instagram shows the list also to Page tokens that may not read single posts. */
async function findListedPermalink(
  api: GraphApi,
  account: AccountAccess,
  id: string,
  signal: AbortSignal,
): Promise<string | null> {
  const path = `${encodeURIComponent(account.externalId)}/media`;
  const query = { fields: "id,permalink", limit: String(PAGE_SIZE) };
  const call = toGraphRequest(api, account, { method: "GET", path, query });
  const answer = await callPlatform(call, signal);
  if (answer.kind === "no_answer" || answer.status !== 200) return null;
  const listed = list(answer.json, "data").map(toAccountMedia);
  return listed.find((entry) => entry.id === id)?.permalink ?? null;
}
