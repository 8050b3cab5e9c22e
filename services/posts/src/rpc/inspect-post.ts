import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { Violation } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { findMedia, toPostMedia, useMedia, type MediaClaim } from "#src/clients/media.ts";
import { checkDraft, checkPost, type PostInput } from "#src/domain/check-post.ts";
import type { PostAccount } from "#src/domain/post.ts";
import { checkSchedule } from "#src/domain/schedule.ts";
import type { PostServiceDeps } from "#src/rpc/post-service.ts";

/** What a post depends on, and the moment it was looked at. */
export interface Surroundings {
  /** Of the post and, for a draft, of its options' keys. */
  readonly accounts: ReadonlyMap<string, PostAccount>;
  readonly media: ReadonlyMap<string, Media>;
  /** By the database; before a use of media was noted. */
  readonly now: Date;
}

/** A post, what it names, and every reason to refuse it. */
export interface Inspection extends Surroundings {
  readonly violations: readonly Violation[];
}

/** A post that is judged. */
export interface InspectedDraft extends PostInput {
  /** Given when it is to be stored: then its media are kept from being deleted. */
  readonly claim?: MediaClaim;
}

/** What a post that is to be published is judged by; without a time, or with one that is not to be judged, it is due now. */
export interface InspectedPost extends InspectedDraft {
  readonly scheduledAt?: Date | undefined;
}

type Deps = Pick<PostServiceDeps, "accounts" | "platforms" | "media" | "clock">;

/** Judges a post that is to be published: by what it names, by its platforms' rules, by its time. */
export async function inspectPost(
  deps: Deps,
  workspaceId: string,
  input: InspectedPost,
): Promise<Inspection> {
  const [available, known] = await Promise.all([
    deps.platforms.listAvailable(),
    lookAround(deps, workspaceId, input, input.accountIds),
  ]);
  const { scheduledAt } = input;
  const violations = [
    ...checkPost(input, { ...known, available, media: toMedia(known) }),
    ...(scheduledAt === undefined ? [] : checkSchedule(scheduledAt, known.now)),
  ];
  return { ...known, violations };
}

/** Judges a draft: what it names must exist. */
export async function inspectDraft(
  deps: Deps,
  workspaceId: string,
  input: InspectedDraft,
): Promise<Inspection> {
  const ids = new Set([...input.accountIds, ...Object.keys(input.options).filter(isId)]);
  const known = await lookAround(deps, workspaceId, input, [...ids]);
  return { ...known, violations: checkDraft(input, { ...known, media: toMedia(known) }) };
}

async function lookAround(
  deps: Deps,
  workspaceId: string,
  { mediaIds, claim }: InspectedDraft,
  accountIds: readonly string[],
): Promise<Surroundings> {
  const isStored = claim !== undefined && mediaIds.length > 0;
  const [accounts, known] = await Promise.all([
    deps.accounts.findAccounts(workspaceId, accountIds),
    isStored ? claimMedia(deps, claim, mediaIds) : lookAtMedia(deps, workspaceId, mediaIds),
  ]);
  return { accounts, ...known };
}

async function lookAtMedia(deps: Deps, workspaceId: string, mediaIds: readonly string[]) {
  const [media, now] = await Promise.all([
    findMedia(deps.media, workspaceId, mediaIds),
    deps.clock(),
  ]);
  return { media, now };
}

/** The clock comes first: the age of a use that is counted from then is never less than its true age. */
async function claimMedia(deps: Deps, claim: MediaClaim, mediaIds: readonly string[]) {
  const now = await deps.clock();
  return { media: await useMedia(deps.media, claim, mediaIds), now };
}

function toMedia({ media }: Surroundings) {
  return new Map([...media].map(([id, item]) => [id, toPostMedia(item)]));
}
