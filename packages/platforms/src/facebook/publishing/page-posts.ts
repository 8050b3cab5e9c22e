import { pagePath } from "#src/facebook/publishing/calls.ts";
import { MEANINGS } from "#src/facebook/publishing/error-meanings.ts";
import { kindOf, preparedId } from "#src/facebook/publishing/post-kind.ts";
import { photoIds } from "#src/facebook/publishing/post-steps.ts";
import { toGraphFailure } from "#src/graph-api/failures.ts";
import { callGraph, type GraphApi } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { list, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { type MatchingPost, searchStart } from "#src/publishing/matching-posts.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { normalizeText } from "#src/text/normalize-text.ts";

const READ_TIMEOUT_MS = 5000;
const SITE = "https://www.facebook.com";

function derivePermalink(id: string): string {
  return id.includes("_") ? `${SITE}/${id}` : `${SITE}/reel/${id}`;
}

export function toPermalink(id: string, permalinkUrl: string | undefined): string {
  if (permalinkUrl === undefined) return derivePermalink(id);
  return permalinkUrl.startsWith("/") ? `${SITE}${permalinkUrl}` : permalinkUrl;
}

export async function readPermalink(
  api: GraphApi,
  account: AccountAccess,
  id: string,
): Promise<string> {
  const query = { fields: "permalink_url" };
  const call = { method: "GET", path: encodeURIComponent(id), query } as const;
  const answer = await callGraph(api, account, call, AbortSignal.timeout(READ_TIMEOUT_MS));
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

type PagePosts = { readonly posts: readonly PagePost[] } | { readonly verdict: Verdict };

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
    return { kind: "cannot_tell", message: "Facebook refuses to list the Page's posts" };
  return failure?.retryAfterMs === undefined
    ? repeatLook(call)
    : { kind: "look_again", afterMs: failure.retryAfterMs, isIncomplete: true };
}

export async function readPagePosts(
  api: GraphApi,
  publication: Publication,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<PagePosts> {
  const posts: PagePost[] = [];
  const since = String(Math.floor(searchStart(call).getTime() / 1000));
  const query = { fields: FIELDS, since, limit: String(PAGE_SIZE) };
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
    posts.push(...list(answer.json, "data").map(toPagePost));
    const paging = object(answer.json, "paging");
    after = text(object(paging, "cursors"), "after");
    if (after === undefined || text(paging, "next") === undefined) return { posts };
  }
  return { verdict: repeatLook(call) };
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

export function listMatchingPosts(
  publication: Publication,
  handles: Handles,
  posts: readonly PagePost[],
): readonly MatchingPost[] {
  const message = normalizeText(publication.text);
  const prepared = new Set([
    ...photoIds(publication, handles),
    preparedId(kindOf(publication), handles),
  ]);
  return posts.flatMap((post) => {
    const isProven = [post.id, ...post.files].some((id) => prepared.has(id));
    const isSimilar = post.message === message && post.files.length === publication.media.length;
    return isProven || isSimilar ? [toMatchingPost(post, publication, isProven)] : [];
  });
}
