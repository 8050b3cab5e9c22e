import { isMissing } from "#src/graph-api/failures.ts";
import { edgeOf, nextOf } from "#src/graph-api/graph-request.ts";
import { list, text } from "#src/http/platform-answer.ts";
import { ask, type Caller, type Site } from "#src/publishing/caller.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { endAt, readWholeList, searchStart } from "#src/publishing/search.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
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

function mediaTypeOf({ media }: Publication): string {
  if (media.length > 1) return "CAROUSEL_ALBUM";
  return media[0]?.kind === "video" ? "VIDEO" : "IMAGE";
}

/** The media of the account that have the content of the publication. */
export async function findMatchingMedia(
  graph: Caller,
  publication: Publication,
  call: UnknownCall,
): Promise<readonly AccountMedia[] | Verdict> {
  const since = searchStart(call).getTime();
  const path = edgeOf(graph.account, "media");
  const fields = "id,caption,timestamp,permalink,media_type";
  const read = await readWholeList(call, MAX_PAGES, async (after) => {
    const page = await ask(graph, { path, query: { fields, limit: String(PAGE_SIZE), after } });
    if (page.kind === "no_answer" || page.status !== 200 || !Array.isArray(page.json?.data))
      return repeatLook(call);
    const entries = list(page.json, "data").map(toAccountMedia);
    return endAt({ entries, next: nextOf(page) }, ({ createdAt }) => createdAt < since);
  });
  if ("kind" in read) return read;
  const caption = normalizeText(publication.text);
  const type = mediaTypeOf(publication);
  return read.entries.filter(
    (entry) => entry.mediaType === type && normalizeText(entry.caption) === caption,
  );
}

/** Null when the link cannot be read in time; the post counts as published anyway. */
export async function findPermalink(
  site: Site,
  id: string,
  withinMs: number,
): Promise<string | null> {
  const limitMs = Math.floor(Math.min(READ_TIMEOUT_MS, withinMs));
  if (limitMs <= 0) return null;
  const graph = { ...site, signal: AbortSignal.timeout(limitMs) };
  const query = { fields: "permalink" };
  const answer = await ask(graph, { path: encodeURIComponent(id), query });
  if (answer.kind === "no_answer") return null;
  if (isMissing(answer)) return await findListedPermalink(graph, id);
  return answer.status === 200 ? (text(answer.json, "permalink") ?? null) : null;
}

/** Instagram shows the list also to Page tokens that may not read single posts. */
async function findListedPermalink(graph: Caller, id: string): Promise<string | null> {
  const query = { fields: "id,permalink", limit: String(PAGE_SIZE) };
  const answer = await ask(graph, { path: edgeOf(graph.account, "media"), query });
  if (answer.kind === "no_answer" || answer.status !== 200) return null;
  const listed = list(answer.json, "data").map(toAccountMedia);
  return listed.find((entry) => entry.id === id)?.permalink ?? null;
}
