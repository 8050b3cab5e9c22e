import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { PostSchema } from "@postrider/contracts/posts/v1/post_pb";
import type {
  CreatePostRequest,
  CreatePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { unavailable, unprocessable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { findReplay, type KeyedRequest } from "@postrider/shared/postgres/idempotency";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { MediaClaim } from "#src/clients/media.ts";
import type { QueueSlot } from "#src/domain/next-slots.ts";
import { isDueNow } from "#src/domain/schedule.ts";
import { acceptPost } from "#src/rpc/accept-post.ts";
import { buildPost, type Placement } from "#src/rpc/build-post.ts";
import { inspectDraft, inspectPost } from "#src/rpc/inspect-post.ts";
import { dropClaim, dropIfRefused, newClaim } from "#src/rpc/media-claim.ts";
import { parseCreatePost, type CreateInput } from "#src/rpc/parse-create-post.ts";
import type { PostServiceDeps } from "#src/rpc/post-service.ts";

type Response = MessageInitShape<typeof CreatePostResponseSchema>;

/** How often a post may be judged: again after this process stood still. */
const MAX_ROUNDS = 2;

/** Accepts a post whole or not at all: published at once, scheduled, put into the next queue slot, or kept as a draft. */
export async function createPost(
  deps: PostServiceDeps,
  request: CreatePostRequest,
): Promise<Response> {
  const input = parseCreatePost(request);
  // Chosen before anything is asked: media note the post as their user before it is there.
  const claim = { ...newClaim(request.workspaceId, newId()), postVersion: 1 };
  return await dropIfRefused(deps.media, claim, input.mediaIds, async () => {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const answer = await tryToCreate(deps, request, { ...input, claim });
      if (answer?.replayed) await dropClaim(deps.media, claim, input.mediaIds);
      if (answer !== undefined) return answer;
    }
    throw unavailable();
  });
}

/** Undefined when what it looked at is too long ago. */
async function tryToCreate(
  deps: PostServiceDeps,
  request: CreatePostRequest,
  input: CreateInput & { readonly claim: MediaClaim },
): Promise<Response | undefined> {
  const { workspaceId, createdVia } = request;
  const keyed = toKeyed(request);
  const inspect = input.isDraft ? inspectDraft : inspectPost;
  const [{ violations, ...known }, limits] = await Promise.all([
    inspect(deps, workspaceId, input),
    deps.workspaces.findLimits(workspaceId),
    deps.assertRoom(),
  ]);
  if (violations.length > 0) {
    // A request that succeeded once keeps its answer, also when the same post would be refused by now.
    const replay = keyed === undefined ? undefined : await findReplay(deps.sql, keyed);
    if (replay !== undefined) return toReplay(replay);
    throw unprocessable("validation_failed", violations);
  }
  const { missedAfterMs } = deps;
  const { postId } = input.claim;
  const checked = { ...input, ...known, postId, workspaceId, createdVia, missedAfterMs };
  const accepted = await acceptPost(deps.sql, {
    keyed,
    limits,
    force: input.force,
    queueSlot: input.queueSlot,
    build: (slot) => buildPost(checked, placementOf(input, known.now, slot)),
  });
  if (accepted === undefined) return undefined;
  if ("replay" in accepted) return toReplay(accepted.replay);
  failpoint("posts.after-accept-commit");
  const { post, answer } = accepted;
  deps.nudgeRelay();
  if (post.status === "scheduled" && post.scheduledAt !== null)
    deps.nudgeScheduler(post.scheduledAt);
  return { post: answer, replayed: false };
}

function placementOf(
  { isDraft, scheduledAt }: CreateInput,
  now: Date,
  slot: QueueSlot | undefined,
): Placement {
  if (slot !== undefined)
    return { status: "scheduled", scheduledAt: slot.slotAt, ruleId: slot.ruleId };
  if (isDraft) return { status: "draft", scheduledAt: scheduledAt ?? null };
  if (scheduledAt === undefined) return { status: "publishing", scheduledAt: null };
  // A time that has just passed becomes the moment of the command, as when a schedule is published by hand.
  if (isDueNow(scheduledAt, now)) return { status: "publishing", scheduledAt: now };
  return { status: "scheduled", scheduledAt, ruleId: null };
}

function toKeyed({ workspaceId, idempotency }: CreatePostRequest): KeyedRequest | undefined {
  if (idempotency === undefined) return undefined;
  const { key, fingerprint } = idempotency;
  return { workspaceId, operation: "CreatePost", key, fingerprint };
}

function toReplay(response: Uint8Array): Response {
  return { post: fromBinary(PostSchema, response), replayed: true };
}
