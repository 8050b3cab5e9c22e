import { type CreatePost, type PostDetail, PostriderError } from "@postrider/client";
import { api } from "../../api/api.ts";
import { isPlanned } from "../../posts/move-post.ts";
import type { PostVersion } from "../../posts/posts-api.ts";
import { type Draft, toContent } from "./draft.ts";
import { changesOf } from "./edit-changes.ts";
import { scheduledAtOf } from "./when.ts";

/** `draft`: keep it on the server, not planned. */
export type SendAs = "send" | "draft";

export interface SendOptions {
  readonly as: SendAs;
  /** Although the same was sent a short time ago. */
  readonly force?: boolean;
}

/** The request of a new post. Fields that say nothing are left out, as two tabs must agree. */
export function toRequest(draft: Draft, { as, force }: SendOptions): CreatePost {
  const { content, accountIds, mediaIds, options } = toContent(draft);
  const scheduledAt = as === "send" ? timeToSend(draft) : scheduledAtOf(draft.when);
  return {
    content,
    accountIds,
    ...(mediaIds.length === 0 ? {} : { mediaIds }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...(scheduledAt === undefined ? {} : { scheduledAt }),
    ...(as === "draft" ? { isDraft: true } : {}),
    ...(as === "send" && draft.when.kind === "slot" ? { queueSlot: true } : {}),
    ...(force === true ? { force: true } : {}),
  };
}

/** Throws while the time is not complete: without a time the post would be published at once. */
function timeToSend({ when }: Draft): string | undefined {
  const at = scheduledAtOf(when);
  if (when.kind === "at" && at === undefined)
    throw new Error("the time of the post is not complete");
  return at;
}

/**
 * Sends a new post under the key of its draft. The key stands for one request: after a change of
 * the text the server refuses it if an earlier request was accepted, see `findTaken`.
 */
export async function createPost(key: string, request: string): Promise<PostDetail> {
  return await api.createPost(JSON.parse(request) as CreatePost, { idempotencyKey: key });
}

/**
 * The post that an earlier request of the same draft made, whose answer was lost: the request is
 * sent again, which answers with that post and makes none.
 */
export async function findTaken({ key, attempts = [] }: Draft): Promise<PostDetail | undefined> {
  for (const attempt of attempts.toReversed())
    try {
      return await createPost(key, attempt);
    } catch (error) {
      if (!isReused(error)) throw error;
    }
  return undefined;
}

export function isReused(error: unknown): boolean {
  return error instanceof PostriderError && error.code === "idempotency_key_reused";
}

interface Editing {
  readonly base: PostDetail;
  /** For a draft that goes into the queue: when its next free slot is. */
  readonly slot: string | undefined;
}

/**
 * Changes a post that exists. Only what was changed is sent, under the version that was read; what
 * is published is the version that this draft knows.
 *
 * @returns The post as it is then.
 */
export async function changePost(
  draft: Draft,
  { as, force }: SendOptions,
  { base, slot }: Editing,
  onVersion: (version: PostVersion) => void,
): Promise<PostDetail> {
  const { scheduledAt, ...changes } = changesOf(base, draft);
  const plannedAt = draft.when.kind === "slot" ? slot : (scheduledAt ?? planOf(base, draft));
  const sent = {
    ...changes,
    ...(as === "draft" || plannedAt === undefined ? {} : { scheduledAt: plannedAt }),
  };
  let post = base;
  let { etag } = draft;
  if (Object.keys(sent).length > 0) {
    post = await api.updatePost(base.id, sent, {
      ifMatch: draft.etag,
      onResponse: (response) => (etag = response.headers.get("etag") ?? undefined),
    });
    onVersion({ post, etag });
  }
  if (as === "draft" || draft.when.kind !== "now") return post;
  return await api.publishPost(base.id, force === true ? { force: true } : undefined, {
    ifMatch: etag,
  });
}

/** The time that a draft was saved with is only a plan; sending it schedules the draft. */
function planOf({ status, scheduledAt }: PostDetail, { when }: Draft): string | undefined {
  return status === "draft" && when.kind === "at" ? (scheduledAt ?? undefined) : undefined;
}

/** Whether a post that is as it was written still has to be scheduled or published. */
export function isUnfinished(post: PostDetail, { when }: Draft, { as }: SendOptions): boolean {
  if (as === "draft") return false;
  return when.kind === "now" ? isPlanned(post) : post.status === "draft";
}
