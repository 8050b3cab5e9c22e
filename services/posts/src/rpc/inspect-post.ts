import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { Violation } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { findMedia, toPostMedia } from "#src/clients/media.ts";
import { checkDraft, checkPost, type PostInput } from "#src/domain/check-post.ts";
import type { PostAccount } from "#src/domain/post.ts";
import { checkSchedule } from "#src/domain/schedule.ts";
import type { PostServiceDeps } from "#src/rpc/post-service.ts";

/** What a post depends on, and the moment it was looked at. */
export interface Surroundings {
  /** Of the post and, for a draft, of its options' keys. */
  readonly accounts: ReadonlyMap<string, PostAccount>;
  readonly media: ReadonlyMap<string, Media>;
  readonly now: Date;
}

/** A post, what it names, and every reason to refuse it. */
export interface Inspection extends Surroundings {
  readonly violations: readonly Violation[];
}

/** What a post that is to be published is judged by; without a time, or with one that is not to be judged, it is due now. */
export interface InspectedPost extends PostInput {
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
  input: PostInput,
): Promise<Inspection> {
  const ids = new Set([...input.accountIds, ...Object.keys(input.options).filter(isId)]);
  const known = await lookAround(deps, workspaceId, input, [...ids]);
  return { ...known, violations: checkDraft(input, { ...known, media: toMedia(known) }) };
}

async function lookAround(
  deps: Deps,
  workspaceId: string,
  { mediaIds }: PostInput,
  accountIds: readonly string[],
): Promise<Surroundings> {
  const [accounts, media, now] = await Promise.all([
    deps.accounts.findAccounts(workspaceId, accountIds),
    findMedia(deps.media, workspaceId, mediaIds),
    deps.clock(),
  ]);
  return { accounts, media, now };
}

function toMedia({ media }: Surroundings) {
  return new Map([...media].map(([id, item]) => [id, toPostMedia(item)]));
}
