import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  ValidatePostRequestSchema,
  type UpdatePostRequest,
  type UpdatePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import {
  conflict,
  invalidRequest,
  notFound,
  unavailable,
  unprocessable,
} from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { MediaClaim } from "#src/clients/media.ts";
import { findPost, type PostRow } from "#src/db/posts.ts";
import type { PostInput } from "#src/domain/check-post.ts";
import { findRefusal } from "#src/domain/transitions.ts";
import {
  inspectDraft,
  inspectPost,
  type InspectedDraft,
  type Inspection,
} from "#src/rpc/inspect-post.ts";
import { dropIfRefused, newClaim, releaseRemoved } from "#src/rpc/media-claim.ts";
import { parseValidatePost } from "#src/rpc/parse-create-post.ts";
import type { PostServiceDeps } from "#src/rpc/post-service.ts";
import { tryRewrite, type Placement } from "#src/rpc/rewrite-post.ts";
import { toPost } from "#src/rpc/to-post.ts";

/** How often a post may change while it is judged. */
const MAX_ROUNDS = 3;

/** Replaces the fields that are present. The whole post, as it will be, is judged before its lock is taken. */
export async function updatePost(
  deps: PostServiceDeps,
  request: UpdatePostRequest,
): Promise<MessageInitShape<typeof UpdatePostResponseSchema>> {
  const { workspaceId, id } = request;
  if (!isId(workspaceId) || !isId(id)) throw notFound();
  if (isEmpty(request)) throw invalidRequest();
  const claim = newClaim(workspaceId, id);
  const row = await dropIfRefused(deps.media, claim, request.mediaIds?.values ?? [], () =>
    updateInRounds(deps, request, claim),
  );
  if (row.status === "scheduled" && row.scheduledAt !== null) deps.nudgeScheduler(row.scheduledAt);
  return { post: toPost(row) };
}

async function updateInRounds(
  deps: PostServiceDeps,
  request: UpdatePostRequest,
  claim: Omit<MediaClaim, "postVersion">,
): Promise<PostRow> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const seen = await findPost(deps.sql, claim.workspaceId, claim.postId);
    if (seen === undefined) throw notFound();
    const row = await tryToUpdate(deps, request, {
      seen,
      claim: { ...claim, postVersion: seen.version + 1 },
    });
    if (row === undefined) continue;
    failpoint("posts.after-update-commit");
    deps.nudgeRelay();
    await releaseRemoved(deps.media, seen.mediaIds, row);
    return row;
  }
  throw unavailable();
}

function isEmpty(request: UpdatePostRequest): boolean {
  const { content, accountIds, mediaIds, options, scheduledAt } = request;
  return [content, accountIds, mediaIds, options, scheduledAt].every((it) => it === undefined);
}

async function tryToUpdate(
  deps: PostServiceDeps,
  request: UpdatePostRequest,
  { seen, claim }: { readonly seen: PostRow; readonly claim: MediaClaim },
): Promise<PostRow | undefined> {
  const { ifVersion, workspaceId } = request;
  if (ifVersion !== undefined && ifVersion !== BigInt(seen.version))
    throw conflict("precondition_failed");
  const refusal = findRefusal(seen.status, "update");
  if (refusal !== undefined) throw conflict(refusal);
  const input = merge(request, seen);
  const [{ violations, ...known }, limits] = await Promise.all([
    inspect(deps, { ...input, claim }, { seen, scheduledAt: sentTime(request) }),
    deps.workspaces.findLimits(workspaceId),
    deps.assertRoom(),
  ]);
  if (violations.length > 0) throw unprocessable("validation_failed", violations);
  const { missedAfterMs } = deps;
  const place = (now: Date): Placement => placementOf(seen, sentTime(request), now);
  const rewrite = { seen, input, known, limits, missedAfterMs, place, force: false };
  return await tryRewrite(deps.sql, rewrite);
}

function sentTime({ scheduledAt }: UpdatePostRequest): Date | undefined {
  return scheduledAt === undefined ? undefined : timestampDate(scheduledAt);
}

/** The post as it will be: what was sent, and the rest as it was seen. */
function merge(request: UpdatePostRequest, seen: PostRow): PostInput {
  const { scheduledAt } = request;
  const whole = create(ValidatePostRequestSchema, {
    workspaceId: seen.workspaceId,
    content: request.content ?? seen.content,
    accountIds: request.accountIds?.values ?? seen.targets.map(({ accountId }) => accountId),
    mediaIds: request.mediaIds?.values ?? [...seen.mediaIds],
    options: request.options?.values ?? {},
    ...(scheduledAt === undefined ? {} : { scheduledAt }),
  });
  const input = parseValidatePost(whole);
  return { ...input, options: request.options === undefined ? seen.options : input.options };
}

async function inspect(
  deps: PostServiceDeps,
  input: InspectedDraft,
  { seen, scheduledAt }: { readonly seen: PostRow; readonly scheduledAt: Date | undefined },
): Promise<Inspection> {
  const { workspaceId } = seen;
  const staysDraft = seen.status === "draft" && scheduledAt === undefined;
  return staysDraft
    ? await inspectDraft(deps, workspaceId, input)
    : await inspectPost(deps, workspaceId, { ...input, scheduledAt });
}

/** A time that was not sent stays: the plan of a draft, or when the post is due. One that has just passed counts as now. */
function placementOf(seen: PostRow, sent: Date | undefined, now: Date): Placement {
  if (sent === undefined) {
    const { scheduledAt } = seen;
    if (seen.status === "draft") return { status: "draft", scheduledAt, dueAt: null };
    return { status: "scheduled", scheduledAt, dueAt: scheduledAt };
  }
  const at = new Date(Math.max(sent.getTime(), now.getTime()));
  return { status: "scheduled", scheduledAt: at, dueAt: at };
}
