import { toGraphFailure } from "#src/graph/failures.ts";
import type { GraphApi } from "#src/graph/graph-call.ts";
import type { NoAnswer } from "#src/http/http.ts";
import { list, object, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Handles, Publication, UnknownCall, Verdict } from "#src/publishing/connector.ts";
import { judgeTwins, lookAgain, LOOKS_AFTER_MS, type Twin } from "#src/publishing/twins.ts";
import { callGraph, pagePath } from "./context.ts";
import { kindOf } from "./kind.ts";
import { MEANINGS } from "./meanings.ts";
import { toPermalink } from "./permalink.ts";
import { photoIds } from "./post-steps.ts";

const MINUTE_MS = 60_000;
/** Clock differences between us and the platform. */
const BEFORE_CALL_MS = MINUTE_MS;
const PAGE_SIZE = 100;
const MAX_PAGES = 32;
const FIELDS = "id,message,permalink_url,attachments{type,target,subattachments{type,target}}";

interface Entry {
  readonly id: string;
  readonly words: string;
  /** Ids of its photos or of its video; a link's preview is none. */
  readonly files: readonly string[];
  readonly permalink: string | undefined;
}

type Timeline = { readonly entries: readonly Entry[] } | { readonly verdict: Verdict };

function fold(words: string): string {
  return words.normalize("NFC").replaceAll(/\s+/g, " ").trim();
}

/** An album names each of its photos, and may have an id of its own. */
function fileIds(attachment: unknown): readonly string[] {
  const parts = list(object(attachment, "subattachments"), "data").flatMap(fileIds);
  if (parts.length > 0) return parts;
  if (!/photo|album|video/.test(text(attachment, "type") ?? "")) return [];
  const id = text(object(attachment, "target"), "id");
  return id === undefined ? [] : [id];
}

function toEntry(post: unknown): Entry {
  return {
    id: text(post, "id") ?? "",
    words: fold(text(post, "message") ?? ""),
    files: list(object(post, "attachments"), "data").flatMap(fileIds),
    permalink: text(post, "permalink_url"),
  };
}

/** A page that could not be read proves nothing; one that Facebook refuses never will. */
function toUnread(answer: PlatformAnswer | NoAnswer, call: UnknownCall): Verdict {
  const failure = answer.kind === "answer" ? toGraphFailure(answer, MEANINGS) : undefined;
  if (failure !== undefined && failure.kind !== "retryable")
    return { kind: "cannot_tell", message: "the Page's posts cannot be read" };
  return failure?.retryAfterMs === undefined
    ? lookAgain(call)
    : { kind: "look_again", afterMs: failure.retryAfterMs, isIncomplete: true };
}

/** The Page's own posts since just before the call, all pages. */
async function readTimeline(
  api: GraphApi,
  publication: Publication,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Timeline> {
  const entries: Entry[] = [];
  const since = Math.floor((call.calledAt.getTime() - BEFORE_CALL_MS) / 1000);
  const query = { fields: FIELDS, since: String(since), limit: String(PAGE_SIZE) };
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const request = {
      method: "GET",
      path: pagePath(publication, "published_posts"),
      query: after === undefined ? query : { ...query, after },
    } as const;
    const answer = await callGraph(api, publication, request, signal);
    if (answer.kind === "no_answer" || answer.status !== 200 || !Array.isArray(answer.json?.data))
      return { verdict: toUnread(answer, call) };
    entries.push(...list(answer.json, "data").map(toEntry));
    const paging = object(answer.json, "paging");
    after = text(object(paging, "cursors"), "after");
    if (after === undefined || text(paging, "next") === undefined) return { entries };
  }
  return { verdict: lookAgain(call) };
}

/** A video is known by its own id, a post by the post's. */
function toTwin({ id, files, permalink }: Entry, publication: Publication): Twin {
  const [first = id] = files;
  const externalId = kindOf(publication) === "post" ? id : first;
  return { id: externalId, permalink: toPermalink(externalId, permalink) };
}

/** The same words with as many photos, or with a video. */
function listTwins(publication: Publication, entries: readonly Entry[]): readonly Twin[] {
  const words = fold(publication.text);
  return entries
    .filter((entry) => entry.words === words && entry.files.length === publication.media.length)
    .map((entry) => toTwin(entry, publication));
}

/**
 * Looks for a post that was made visible at once. Its photos were uploaded for it alone, so their ids decide; without any
 * the text does.
 */
export async function reconcileByPosts(
  api: GraphApi,
  { publication, handles }: { readonly publication: Publication; readonly handles: Handles },
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const timeline = await readTimeline(api, publication, call, signal);
  if ("verdict" in timeline) return timeline.verdict;
  const photos = photoIds(publication, handles);
  const ours = timeline.entries.find(({ files }) => photos.some((id) => files.includes(id)));
  if (ours !== undefined) {
    const { id, permalink } = toTwin(ours, publication);
    return { kind: "present", externalId: id, permalink };
  }
  const twins = photos.length > 0 ? [] : listTwins(publication, timeline.entries);
  return await judgeTwins(twins, publication, call, LOOKS_AFTER_MS);
}

/** Looks through the Page's own posts by text and kind, for a publication that the data does not know to be sent. */
export async function findTwinPost(
  api: GraphApi,
  publication: Publication,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const timeline = await readTimeline(api, publication, call, signal);
  if ("verdict" in timeline) return timeline.verdict;
  const twins = listTwins(publication, timeline.entries);
  return await judgeTwins(twins, publication, call, LOOKS_AFTER_MS);
}
