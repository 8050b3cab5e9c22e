import { AsyncLocalStorage } from "node:async_hooks";
import { create } from "@bufbuild/protobuf";
import { PostSchema } from "@postrider/contracts/posts/v1/post_pb";
import { newId } from "@postrider/shared/ids";
import { toPostRecords, type NewPost } from "#src/db/new-post.ts";
import type { QueueSlot } from "#src/domain/next-slots.ts";
import { planNewPost, type ChosenTiming } from "#src/domain/plan-post.ts";
import { quotaDemands, type QuotaLimits } from "#src/domain/quota.ts";
import { possibleExhaustions, postPlaced } from "#src/events.ts";
import { toStoredMedia, type PostDependencies } from "#src/operations/judge-post.ts";
import type { BuiltPost, PendingPost } from "#src/operations/post-inserts.ts";
import type { NewPostRequest } from "#src/rpc/parse-post.ts";
import { toAcceptedPost } from "#src/rpc/to-post.ts";
import { toKeyedResponse } from "#src/rpc/to-replayable-response.ts";

/** A CreatePost request whose post was checked, and the data from which the post is built. */
export interface CheckedRequest {
  readonly request: NewPostRequest;
  readonly postId: string;
  readonly known: PostDependencies;
  readonly limits: QuotaLimits;
  readonly missedAfterMs: number;
}

/** Builds the post that is inserted, and the answer to the request. */
export function buildPost(
  { request, postId, known, limits, missedAfterMs }: CheckedRequest,
  timing: ChosenTiming,
  mayExhaust: boolean,
): BuiltPost {
  const { workspaceId, content, options, mediaIds, createdVia, force, keyed } = request;
  const { now, media, accounts } = known;
  const post: NewPost = {
    id: postId,
    workspaceId,
    content,
    options,
    mediaIds,
    media: toStoredMedia(mediaIds, media),
    createdVia,
    acceptedAt: now,
    ...planNewPost(request, timing, { accounts, now, missedAfterMs, newId }),
  };
  const answer = create(PostSchema, toAcceptedPost(post));
  const { due, targets } = post;
  const demands = due === null ? [] : quotaDemands(workspaceId, targets, due.dueAt, limits);
  const [event] = postPlaced({ ...post, postId, version: 1, occurredAt: now }, targets);
  const records = toPostRecords(post, {
    demands,
    force,
    event,
    keyed: keyed === null ? null : toKeyedResponse(keyed, answer),
    exhaustions: mayExhaust ? possibleExhaustions(demands, targets, now) : null,
  });
  return { post, demands, answer, records };
}

/** Returns a checked post to insert, with what no other post of the same statement can have. */
export function toPendingPost(checked: CheckedRequest, mayExhaust: boolean): PendingPost {
  const { workspaceId, keyed, timing } = checked.request;
  const isQueued = timing.kind === "queue_slot";
  // The content, which decides on the claims, does not depend on the time.
  const built = buildPost(checked, isQueued ? { kind: "now" } : timing, mayExhaust);
  const { post, records } = built;
  // The post is built in the context of its request, which becomes the cause of the post.
  const source = isQueued
    ? AsyncLocalStorage.bind((slot: QueueSlot) =>
        buildPost(checked, { kind: "chosen_slot", ...slot }, mayExhaust),
      )
    : built;
  return {
    workspaceId,
    owner: workspaceId,
    claims: [
      ...post.targets.flatMap(({ accountId, contentHash }) =>
        contentHash === null ? [] : [`content ${accountId} ${contentHash}`],
      ),
      ...(keyed === null ? [] : [`key ${workspaceId} ${keyed.key}`]),
      ...(isQueued ? [`slot ${workspaceId}`] : []),
    ],
    bytes: records.post.length + records.targets.length,
    source,
  };
}
