import { toJson, type JsonValue } from "@bufbuild/protobuf";
import { MediaSchema, type Media } from "@postrider/contracts/media/v1/media_pb";
import type { Violation } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { claimMedia, findMedia, toPostMedia, type MediaClaim } from "#src/clients/media.ts";
import { checkDraft, checkPost } from "#src/domain/check-post.ts";
import { checkSchedule, type PostTiming } from "#src/domain/plan-post.ts";
import type { PostAccount, PostContent } from "#src/domain/post.ts";
import type { PostsDeps } from "./dependencies.ts";

/** What other services know of the things that a post names, and the moment at which they were asked. */
export interface PostDependencies {
  /** The accounts of the post and of its options' keys; those that do not exist are missing. */
  readonly accounts: ReadonlyMap<string, PostAccount>;
  readonly media: ReadonlyMap<string, Media>;
  /** The platforms that this installation can publish to. */
  readonly available: ReadonlySet<string>;
  /** The database's time, read before the media were claimed. */
  readonly now: Date;
}

/**
 * Asks other services about everything that a post names.
 *
 * @param claim Keeps the post's media from being deleted until it is stored; null when it is only checked.
 */
export async function loadPostDependencies(
  deps: Pick<PostsDeps, "accounts" | "platforms" | "media" | "clock">,
  { workspaceId, ...post }: PostContent & { readonly workspaceId: string },
  claim: MediaClaim | null,
): Promise<PostDependencies> {
  const [available, accounts, known] = await Promise.all([
    deps.platforms.listAvailable(),
    deps.accounts.findAccounts(workspaceId, accountIdsOf(post)),
    claim === null || post.mediaIds.length === 0
      ? lookUpMedia(deps, workspaceId, post.mediaIds)
      : claimMediaNow(deps, claim, post.mediaIds),
  ]);
  return { available, accounts, ...known };
}

/** The accounts that a post names: its targets' and those of its options' keys. */
export function accountIdsOf({
  accountIds,
  options,
}: Pick<PostContent, "accountIds" | "options">): string[] {
  return [...new Set([...accountIds, ...Object.keys(options).filter(isId)])];
}

async function lookUpMedia(
  deps: Pick<PostsDeps, "media" | "clock">,
  workspaceId: string,
  mediaIds: readonly string[],
) {
  const [media, now] = await Promise.all([
    findMedia(deps.media, workspaceId, mediaIds),
    deps.clock(),
  ]);
  return { media, now };
}

/** The clock comes first, so that the claim is never older than the time that its age is counted from. */
async function claimMediaNow(
  deps: Pick<PostsDeps, "media" | "clock">,
  claim: MediaClaim,
  mediaIds: readonly string[],
) {
  const now = await deps.clock();
  return { media: await claimMedia(deps.media, claim, mediaIds), now };
}

/** Every reason to refuse a post. What a draft names must exist; any other post must suit its platforms and its time. */
export function judgePost(
  post: PostContent,
  known: PostDependencies,
  timing: PostTiming,
): Violation[] {
  const media = new Map([...known.media].map(([id, item]) => [id, toPostMedia(item)]));
  if (timing.kind === "draft") return checkDraft(post, { ...known, media });
  const violations = checkPost(post, { ...known, media });
  return timing.kind === "scheduled"
    ? [...violations, ...checkSchedule(timing.scheduledAt, known.now)]
    : violations;
}

/** Media as a post stores them, as proto JSON: a later read asks no other service. */
export function toStoredMedia(
  mediaIds: readonly string[],
  { media }: PostDependencies,
): JsonValue[] {
  return mediaIds.flatMap((id) => {
    const item = media.get(id);
    return item === undefined ? [] : [toJson(MediaSchema, item)];
  });
}
