import { AsyncLocalStorage } from "node:async_hooks";
import { newId } from "@postrider/shared/ids";
import { toPostRecords, type NewPost, type PostRequest } from "#src/db/new-post.ts";
import type { QueueSlot } from "#src/domain/next-slots.ts";
import {
  placeNewPost,
  placeTargets,
  planTargets,
  type ChosenTiming,
  type PlannedTarget,
} from "#src/domain/plan-post.ts";
import { quotaDemands, type QuotaLimits } from "#src/domain/quota.ts";
import { possibleExhaustions, postPlaced } from "#src/events.ts";
import type { BuiltPost, PendingPost } from "#src/operations/post-inserts.ts";
import {
  textLengthOf,
  toStoredMedia,
  type PostDependencies,
} from "#src/operations/validate-request.ts";
import { toKeyedResponse } from "#src/rpc/to-keyed-response.ts";
import { toAcceptedPost } from "#src/rpc/to-post.ts";

export interface PlannedPost {
  readonly request: PostRequest;
  readonly postId: string;
  readonly targets: readonly PlannedTarget[];
  readonly known: PostDependencies;
  readonly limits: QuotaLimits;
  readonly missedAfterMs: number;
}

export function planPost(checked: Omit<PlannedPost, "targets">): PlannedPost {
  const { request, known } = checked;
  const isDraft = request.timing.kind === "draft";
  return { ...checked, targets: planTargets(request, known.accounts, { isDraft, idOf: newId }) };
}

function buildPost(
  { request, postId, known, limits, missedAfterMs, ...planned }: PlannedPost,
  timing: ChosenTiming,
  mayExhaust: boolean,
): BuiltPost {
  const { workspaceId, mediaIds, keyed } = request;
  const { now } = known;
  const placement = placeNewPost(timing, { now, missedAfterMs });
  const { due } = placement;
  const targets = placeTargets(planned.targets, due);
  const demands = due === null ? [] : quotaDemands(workspaceId, targets, due.dueAt, limits);
  const post: NewPost = {
    ...request,
    ...placement,
    id: postId,
    media: toStoredMedia(mediaIds, known),
    acceptedAt: now,
    targets,
    demands,
  };
  const answer = toAcceptedPost(post);
  const [event] = postPlaced({ ...post, postId, version: 1, occurredAt: now }, targets);
  const records = toPostRecords(post, {
    event,
    response: keyed === null ? null : toKeyedResponse(answer),
    exhaustions: mayExhaust ? possibleExhaustions(demands, targets, now) : null,
  });
  return { post, answer, records };
}

/** Approximate bytes of a target, and of a post without its texts, in records. */
const RECORD_BYTES = 600;

/** Returns a planned post to insert, with what no other post of the same statement can have. */
export function toPendingPost(planned: PlannedPost, mayExhaust: boolean): PendingPost {
  const { request, targets } = planned;
  const { workspaceId, keyed, timing } = request;
  const isQueued = timing.kind === "queue_slot";
  // A post for a queue slot is built in the context of its request, which becomes the cause of the
  // post.
  const source = isQueued
    ? AsyncLocalStorage.bind((slot: QueueSlot) =>
        buildPost(planned, { kind: "chosen_slot", ...slot }, mayExhaust),
      )
    : buildPost(planned, timing, mayExhaust);
  return {
    workspaceId,
    owner: workspaceId,
    claims: [
      ...targets.flatMap(({ accountId, contentHash }) =>
        contentHash === null ? [] : [`content ${accountId} ${contentHash}`],
      ),
      ...(keyed === null ? [] : [`key ${workspaceId} ${keyed.key}`]),
      ...(isQueued ? [`slot ${workspaceId}`] : []),
    ],
    bytes:
      typeof source === "function"
        ? textLengthOf(request) + RECORD_BYTES * (targets.length + 1)
        : source.records.post.length + source.records.targets.length,
    source,
  };
}
