import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import { PostSchema } from "@postrider/contracts/posts/v1/post_pb";
import type {
  CreatePostRequest,
  CreatePostResponseSchema,
} from "@postrider/contracts/posts/v1/post_service_pb";
import { unprocessable } from "@postrider/shared/errors";
import { failpoint } from "@postrider/shared/failpoints";
import { findMedia, toPostMedia } from "#src/clients/media.ts";
import { insertPublishingPost, type NewPost } from "#src/db/posts.ts";
import { checkPost, type PostInput } from "#src/domain/check-post.ts";
import type { PostAccount } from "#src/domain/post.ts";
import { postPublishRequested } from "#src/events.ts";
import { buildPost, toAcceptedPost } from "#src/rpc/build-post.ts";
import { findReplay, takeKeyOrReplay, type KeyedRequest } from "#src/rpc/idempotency.ts";
import { parseCreatePost } from "#src/rpc/parse-create-post.ts";
import type { PostServiceDeps } from "#src/rpc/post-service.ts";

type Response = MessageInitShape<typeof CreatePostResponseSchema>;

/** What a post depends on, and the moment it is accepted at. */
interface Surroundings {
  readonly accounts: ReadonlyMap<string, PostAccount>;
  readonly available: ReadonlySet<string>;
  readonly media: ReadonlyMap<string, Media>;
  readonly now: Date;
}

/** Accepts a post whole or not at all, to be published at once. */
export async function createPost(
  deps: PostServiceDeps,
  request: CreatePostRequest,
): Promise<Response> {
  const input = parseCreatePost(request);
  const keyed = toKeyed(request);
  const { workspaceId, createdVia } = request;
  const known = await lookAround(deps, workspaceId, input);
  const media = new Map([...known.media].map(([id, item]) => [id, toPostMedia(item)]));
  const violations = checkPost(input, { ...known, media });
  if (violations.length > 0) {
    // A request that succeeded once keeps its answer, also when the same post would be refused by now.
    const replay = keyed === undefined ? undefined : await findReplay(deps.sql, keyed);
    if (replay !== undefined) return toReplay(replay);
    throw unprocessable("validation_failed", violations);
  }
  const { missedAfterMs } = deps;
  const post = buildPost({ ...input, ...known, workspaceId, createdVia, missedAfterMs });
  const answer = create(PostSchema, toAcceptedPost(post));
  const replay = await accept(deps, post, keyed, () => toBinary(PostSchema, answer));
  if (replay !== undefined) return toReplay(replay);
  failpoint("posts.after-accept-commit");
  deps.nudgeRelay();
  return { post: answer, replayed: false };
}

function toKeyed({ workspaceId, idempotency }: CreatePostRequest): KeyedRequest | undefined {
  if (idempotency === undefined) return undefined;
  const { key, fingerprint } = idempotency;
  return { workspaceId, operation: "CreatePost", key, fingerprint };
}

function toReplay(response: Uint8Array): Response {
  return { post: fromBinary(PostSchema, response), replayed: true };
}

async function lookAround(
  deps: PostServiceDeps,
  workspaceId: string,
  { accountIds, mediaIds }: PostInput,
): Promise<Surroundings> {
  const [accounts, available, media, now] = await Promise.all([
    deps.accounts.findAccounts(workspaceId, accountIds),
    deps.platforms.listAvailable(),
    findMedia(deps.media, workspaceId, mediaIds),
    deps.clock(),
    deps.assertRoom(),
  ]);
  return { accounts, available, media, now };
}

/** Returns the earlier answer when the request's key was taken before; then nothing is written. */
async function accept(
  { sql }: Pick<PostServiceDeps, "sql">,
  post: NewPost,
  keyed: KeyedRequest | undefined,
  encodeAnswer: () => Uint8Array,
): Promise<Uint8Array | undefined> {
  const requested = postPublishRequested({
    workspaceId: post.workspaceId,
    postId: post.id,
    version: 1,
    dueAt: post.acceptedAt,
    publishBefore: post.publishBefore,
    targets: post.targets.map(({ id, ...target }) => ({ ...target, targetId: id, generation: 1 })),
  });
  if (keyed === undefined) {
    await insertPublishingPost(sql, post, requested);
    return undefined;
  }
  return await sql.begin(async (tx) => {
    const replay = await takeKeyOrReplay(tx, keyed, encodeAnswer());
    if (replay === undefined) await insertPublishingPost(tx, post, requested);
    return replay;
  });
}
