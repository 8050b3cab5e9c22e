import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  PublishPostRequest,
  PublishPostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { conflict, notFound, unavailable, unprocessable } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { failpoint } from "@postrider/shared/process/failpoints";
import { findPost, type PostRow } from "#src/db/posts.ts";
import { findRefusal } from "#src/domain/transitions.ts";
import { inspectPost } from "#src/rpc/inspect-post.ts";
import { newClaim } from "#src/rpc/media-claim.ts";
import type { PostServiceDeps } from "#src/rpc/post-service.ts";
import { tryRewrite, type Placement } from "#src/rpc/rewrite-post.ts";
import { toPost } from "#src/rpc/to-post.ts";

/** How often a post may change while it is judged. */
const MAX_ROUNDS = 3;

/** Publishes a draft or scheduled post now, as if it had just been created. */
export async function publishPost(
  deps: PostServiceDeps,
  request: PublishPostRequest,
): Promise<MessageInitShape<typeof PublishPostResponseSchema>> {
  const { workspaceId, id } = request;
  if (!isId(workspaceId) || !isId(id)) throw notFound();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const seen = await findPost(deps.sql, workspaceId, id);
    if (seen === undefined) throw notFound();
    const row = await tryToPublish(deps, request, seen);
    if (row === undefined) continue;
    failpoint("posts.after-publish-commit");
    deps.nudgeRelay();
    return { post: toPost(row) };
  }
  throw unavailable();
}

async function tryToPublish(
  deps: PostServiceDeps,
  { force }: PublishPostRequest,
  seen: PostRow,
): Promise<PostRow | undefined> {
  const refusal = findRefusal(seen.status, "publish");
  if (refusal !== undefined) throw conflict(refusal);
  const { workspaceId, content, options, mediaIds } = seen;
  const accountIds = seen.targets.map(({ accountId }) => accountId);
  const input = { content, options, mediaIds, accountIds };
  const claim = { ...newClaim(workspaceId, seen.id), postVersion: seen.version + 1 };
  const [{ violations, ...known }, limits] = await Promise.all([
    inspectPost(deps, workspaceId, { ...input, claim }),
    deps.workspaces.findLimits(workspaceId),
    deps.assertRoom(),
  ]);
  if (violations.length > 0) throw unprocessable("validation_failed", violations);
  const { missedAfterMs } = deps;
  const place = (now: Date): Placement => ({
    status: "publishing",
    scheduledAt: seen.scheduledAt === null ? null : now,
    dueAt: now,
  });
  const rewrite = { seen, input, known, limits, missedAfterMs, place, force };
  return await tryRewrite(deps.sql, rewrite);
}
