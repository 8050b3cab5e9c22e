import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { PostSchema } from "@postrider/contracts/posts/v1/post_pb";
import type {
  CreatePostRequest,
  CreatePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { unprocessable } from "@postrider/shared/errors";
import { failpoint } from "@postrider/shared/failpoints";
import { findReplay, type KeyedRequest } from "@postrider/shared/idempotency";
import type { QueueSlot } from "#src/domain/next-slots.ts";
import { isDueNow } from "#src/domain/schedule.ts";
import { acceptPost } from "#src/rpc/accept-post.ts";
import { buildPost, type Placement } from "#src/rpc/build-post.ts";
import { inspectDraft, inspectPost } from "#src/rpc/inspect-post.ts";
import { parseCreatePost, type CreateInput } from "#src/rpc/parse-create-post.ts";
import type { PostServiceDeps } from "#src/rpc/post-service.ts";

type Response = MessageInitShape<typeof CreatePostResponseSchema>;

/** Accepts a post whole or not at all: published at once, scheduled, put into the next queue slot, or kept as a draft. */
export async function createPost(
  deps: PostServiceDeps,
  request: CreatePostRequest,
): Promise<Response> {
  const input = parseCreatePost(request);
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
  const checked = { ...input, ...known, workspaceId, createdVia, missedAfterMs };
  const accepted = await acceptPost(deps.sql, {
    keyed,
    limits,
    force: input.force,
    queueSlot: input.queueSlot,
    build: (slot) => buildPost(checked, placementOf(input, known.now, slot)),
  });
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
