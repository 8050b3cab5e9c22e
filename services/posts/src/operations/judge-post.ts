import { toJson, type JsonValue } from "@bufbuild/protobuf";
import { MediaSchema, type Media } from "@postrider/contracts/media/v1/media_pb";
import type { TextCounter } from "@postrider/platforms/text/text";
import type { Violation } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { claimMedia, findMedia, toPostMedia, type MediaClaim } from "#src/clients/media.ts";
import { checkDraft, checkPost } from "#src/domain/check-post.ts";
import { checkSchedule, type PostTiming } from "#src/domain/plan-post.ts";
import type { PostAccount, PostContent } from "#src/domain/post.ts";
import { countInSlices } from "./count-in-slices.ts";
import type { PostsDeps } from "./dependencies.ts";

/**
 * The data from other services that checking a post needs, and the database's time from before this data was requested.
 */
export interface PostDependencies {
  /** The accounts of the post and the accounts that are keys of its options. Accounts that do not exist are missing. */
  readonly accounts: ReadonlyMap<string, PostAccount>;
  readonly media: ReadonlyMap<string, Media>;
  /** The platforms that this installation can publish to. */
  readonly available: ReadonlySet<string>;
  /**
   * The database's time, read before the media service was asked to record that the post uses its media (the claim on media).
   * The age of the claim is counted from this time.
   */
  readonly now: Date;
  /** Contains the numbers that the checks of the post's texts need. */
  readonly count: TextCounter;
}

/**
 * Requests the accounts, media and platforms of a post from the accounts service and the media service.
 *
 * @param claim The claim that keeps the post's media from being deleted until the post is stored; null when the post is
 *   only checked.
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
  const count = await countInSlices(post, { accounts, media: toPostMediaMap(known.media) });
  return { available, accounts, ...known, count };
}

function toPostMediaMap(media: ReadonlyMap<string, Media>) {
  return new Map([...media].map(([id, item]) => [id, toPostMedia(item)]));
}

/**
 * Returns the ids of the accounts that a post names: its own accounts and the accounts that are keys of its options.
 */
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
): Promise<Pick<PostDependencies, "media" | "now">> {
  if (mediaIds.length === 0) return { media: new Map(), now: await deps.clock() };
  const [media, now] = await Promise.all([
    findMedia(deps.media, workspaceId, mediaIds),
    deps.clock(),
  ]);
  return { media, now };
}

/**
 * Reads the database's clock and then claims media. The clock is read first, so that the posts service never takes the
 * claim for younger than it is.
 */
async function claimMediaNow(
  deps: Pick<PostsDeps, "media" | "clock">,
  claim: MediaClaim,
  mediaIds: readonly string[],
) {
  const now = await deps.clock();
  return { media: await claimMedia(deps.media, claim, mediaIds), now };
}

/**
 * Returns every reason to refuse a post. The accounts and media of a draft must exist; any other post must also comply with
 * its platforms and its time.
 */
export function judgePost(
  post: PostContent,
  known: PostDependencies,
  timing: PostTiming,
): Violation[] {
  const media = toPostMediaMap(known.media);
  if (timing.kind === "draft") return checkDraft(post, { ...known, media });
  const violations = checkPost(post, { ...known, media });
  return timing.kind === "scheduled"
    ? [...violations, ...checkSchedule(timing.scheduledAt, known.now)]
    : violations;
}

/** Converts media to the proto JSON that a post stores, so that a later read calls no other service. */
export function toStoredMedia(
  ids: readonly string[],
  known: ReadonlyMap<string, Media>,
): JsonValue[] {
  return ids.flatMap((id) => {
    const media = known.get(id);
    return media === undefined ? [] : [toJson(MediaSchema, media)];
  });
}
