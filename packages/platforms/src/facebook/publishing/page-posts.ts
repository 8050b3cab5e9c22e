import { toGraphFailure } from "#src/graph-api/failures.ts";
import { edgeOf, nextOf } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { list, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { ask, type Caller, type Site } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { type MatchingPost, readWholeList, searchStart } from "#src/publishing/search.ts";
import { cannotTell, type UnknownCall, type Verdict } from "#src/publishing/verdict.ts";
import { normalizeText } from "#src/text/normalize-text.ts";
import type { FacebookContext } from "./calls.ts";
import { MEANINGS } from "./error-meanings.ts";
import { kindOf, preparedId } from "./post-kind.ts";
import { photoIds } from "./post-steps.ts";

export const READ_TIMEOUT_MS = 5000;
const SITE = "https://www.facebook.com";

function derivePermalink(id: string): string {
  return id.includes("_") ? `${SITE}/${id}` : `${SITE}/reel/${id}`;
}

export function toPermalink(id: string, permalinkUrl: string | undefined): string {
  if (permalinkUrl === undefined) return derivePermalink(id);
  return permalinkUrl.startsWith("/") ? `${SITE}${permalinkUrl}` : permalinkUrl;
}

export async function readPermalink(site: Site, id: string): Promise<string> {
  const graph = { ...site, signal: AbortSignal.timeout(READ_TIMEOUT_MS) };
  const query = { fields: "permalink_url" };
  const answer = await ask(graph, { path: encodeURIComponent(id), query });
  const isRead = answer.kind === "answer" && answer.status === 200;
  return toPermalink(id, isRead ? text(answer.json, "permalink_url") : undefined);
}

const PAGE_SIZE = 100;
const MAX_PAGES = 32;
const FIELDS = "id,message,permalink_url,attachments{type,target,subattachments{type,target}}";

interface PagePost {
  readonly id: string;
  readonly message: string;
  /** The preview of a link is not a file. */
  readonly files: readonly string[];
  readonly permalink: string | undefined;
}

/** An album lists each of its photos, and may have an id of its own. */
function fileIds(attachment: unknown): readonly string[] {
  const parts = list(object(attachment, "subattachments"), "data").flatMap(fileIds);
  if (parts.length > 0) return parts;
  const type = text(attachment, "type") ?? "";
  // An attachment that previews a link has a type such as `share` or `video_share_youtube`; it
  // contains no file of the post.
  if (type.includes("share") || !/photo|album|video/.test(type)) return [];
  const id = text(object(attachment, "target"), "id");
  return id === undefined ? [] : [id];
}

function toPagePost(post: unknown): PagePost {
  return {
    id: text(post, "id") ?? "",
    message: normalizeText(text(post, "message")),
    files: list(object(post, "attachments"), "data").flatMap(fileIds),
    permalink: text(post, "permalink_url"),
  };
}

/** Search again after a temporary failure, `cannot_tell` after a permanent refusal. */
function toUnread(answer: PlatformAnswer | NoAnswer, call: UnknownCall): Verdict {
  const failure = answer.kind === "answer" ? toGraphFailure(answer, MEANINGS) : undefined;
  if (failure !== undefined && failure.kind !== "retryable")
    return cannotTell("Facebook refuses to list the Page's posts");
  return failure?.retryAfterMs === undefined
    ? repeatLook(call)
    : { kind: "look_again", afterMs: failure.retryAfterMs, isIncomplete: true };
}

async function readPagePosts(
  graph: Caller,
  call: UnknownCall,
): Promise<{ readonly entries: readonly PagePost[] } | Verdict> {
  const since = String(Math.floor(searchStart(call).getTime() / 1000));
  const path = edgeOf(graph.account, "published_posts");
  return await readWholeList(call, MAX_PAGES, async (after) => {
    const query = { fields: FIELDS, since, limit: String(PAGE_SIZE), after };
    const answer = await ask(graph, { path, query });
    if (answer.kind === "no_answer" || answer.status !== 200 || !Array.isArray(answer.json?.data))
      return toUnread(answer, call);
    return { entries: list(answer.json, "data").map(toPagePost), next: nextOf(answer) };
  });
}

/**
 * Facebook's API addresses a video by the id of the video, and other posts by the id of the post.
 */
function toMatchingPost(
  { id, files, permalink }: PagePost,
  publication: Publication,
  isProven: boolean,
): MatchingPost {
  const [first = id] = files;
  const externalId = kindOf(publication) === "post" ? id : first;
  return { id: externalId, permalink: toPermalink(externalId, permalink), isProven };
}

/** The posts of the Page that have the content of the publication, or something made for it. */
export async function findSimilarPosts(
  { graph, publication }: FacebookContext,
  handles: Handles,
  call: UnknownCall,
): Promise<readonly MatchingPost[] | Verdict> {
  const read = await readPagePosts(graph, call);
  if ("kind" in read) return read;
  const message = normalizeText(publication.text);
  const prepared = new Set([
    ...photoIds(publication, handles),
    preparedId(kindOf(publication), handles),
  ]);
  return read.entries.flatMap((post) => {
    const isProven = [post.id, ...post.files].some((id) => prepared.has(id));
    const isSimilar = post.message === message && post.files.length === publication.media.length;
    return isProven || isSimilar ? [toMatchingPost(post, publication, isProven)] : [];
  });
}
