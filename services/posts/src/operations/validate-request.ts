import { toJson, type JsonValue } from "@bufbuild/protobuf";
import { MediaSchema, type Media } from "@postrider/contracts/media/v1/media_pb";
import { createTextCounter, type TextCounter } from "@postrider/platforms/text/text";
import type { Violation } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { claimMedia, findMedia, toPostMedia, type MediaClaim } from "#src/clients/media.ts";
import type { PostAccount, PostContent, PostMedia, PostTiming } from "#src/domain/post.ts";
import { validateDraft, validatePost, validateSchedule } from "#src/domain/validate-post.ts";
import type { PostsDeps } from "./dependencies.ts";
import { runInSlices } from "./run-in-slices.ts";

export interface PostDependencies {
  /** Those of the post and of its options. Accounts that do not exist are missing. */
  readonly accounts: ReadonlyMap<string, PostAccount>;
  readonly media: ReadonlyMap<string, PostMedia>;
  readonly mediaMessages: ReadonlyMap<string, Media>;
  readonly available: ReadonlySet<string>;
  /** When the claim on media was made; see `NewPost.acceptedAt`. */
  readonly now: Date;
  /** Keeps the numbers that were counted in the post's texts. */
  readonly count: TextCounter;
}

/** `claim` keeps the media until the post is stored; null when it is only validated. */
export async function loadPostDependencies(
  deps: Pick<PostsDeps, "accounts" | "platforms" | "media" | "clock">,
  { workspaceId, ...post }: PostContent & { readonly workspaceId: string },
  claim: MediaClaim | null,
): Promise<PostDependencies> {
  const [available, accounts, { media, now }] = await Promise.all([
    deps.platforms.listAvailable(),
    deps.accounts.findAccounts(workspaceId, accountIdsOf(post)),
    claim === null || post.mediaIds.length === 0
      ? lookUpMedia(deps, workspaceId, post.mediaIds)
      : claimMediaNow(deps, claim, post.mediaIds),
  ]);
  return {
    available,
    accounts,
    media: new Map([...media].map(([id, item]) => [id, toPostMedia(item)])),
    mediaMessages: media,
    now,
    count: createTextCounter(),
  };
}

/** Its own accounts and those that are keys of its options. */
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
): Promise<{ readonly media: ReadonlyMap<string, Media>; readonly now: Date }> {
  if (mediaIds.length === 0) return { media: new Map(), now: await deps.clock() };
  const [media, now] = await Promise.all([
    findMedia(deps.media, workspaceId, mediaIds),
    deps.clock(),
  ]);
  return { media, now };
}

/** The clock is read first, so that no claim seems younger than it is. */
async function claimMediaNow(
  deps: Pick<PostsDeps, "media" | "clock">,
  claim: MediaClaim,
  mediaIds: readonly string[],
) {
  const now = await deps.clock();
  return { media: await claimMedia(deps.media, claim, mediaIds), now };
}

/** Texts up to this length are validated in a few milliseconds. */
const MAX_SHORT_LENGTH = 4_096;

export function textLengthOf({ content, options }: Pick<PostContent, "content" | "options">) {
  let length = content.length;
  for (const { content: text = "", title = "" } of Object.values(options))
    length += text.length + title.length;
  return length;
}

/** Whether the texts of a post are so short that they can be validated at once. */
export function hasShortTexts(post: Pick<PostContent, "content" | "options">): boolean {
  return textLengthOf(post) <= MAX_SHORT_LENGTH;
}

/**
 * Long texts are validated in slices, one per turn of the event loop, so that short requests wait
 * for one slice at most.
 */
export async function validateRequest(
  post: PostContent,
  known: PostDependencies,
  timing: PostTiming,
): Promise<Violation[]> {
  if (timing.kind === "draft" || hasShortTexts(post)) return validateAtOnce(post, known, timing);
  const violations = await runInSlices(validatePost(post, known));
  return [...violations, ...validateTiming(timing, known.now)];
}

/** The accounts and media of a draft must exist; other posts must also comply with platforms. */
export function validateAtOnce(
  post: PostContent,
  known: PostDependencies,
  timing: PostTiming,
): Violation[] {
  if (timing.kind === "draft") return validateDraft(post, known);
  const steps = validatePost(post, known);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return [...step.value, ...validateTiming(timing, known.now)];
}

function validateTiming(timing: PostTiming, now: Date): Violation[] {
  return timing.kind === "scheduled" ? validateSchedule(timing.scheduledAt, now) : [];
}

/** A later read then calls no other service. */
export function toStoredMedia(
  ids: readonly string[],
  { mediaMessages }: Pick<PostDependencies, "mediaMessages">,
): JsonValue[] {
  return ids.flatMap((id) => {
    const media = mediaMessages.get(id);
    return media === undefined ? [] : [toJson(MediaSchema, media)];
  });
}
