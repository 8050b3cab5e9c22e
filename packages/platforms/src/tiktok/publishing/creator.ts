import type { NoAnswer } from "#src/http/http.ts";
import { list, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Failure, Handles, Publication } from "#src/publishing/connector.ts";
import { ask, dataOf, type Data, type TiktokAccess } from "./calls.ts";
import { toStepFailure } from "./failures.ts";

/** What TikTok says that the creator may do; asked for right before each post (platforms reference 4.1). */
export interface Creator {
  /** Unix milliseconds. */
  readonly readAt: number;
  readonly privacyLevels: readonly string[];
  readonly maxSeconds: number | null;
  readonly isCommentDisabled: boolean;
  readonly isDuetDisabled: boolean;
  readonly isStitchDisabled: boolean;
}

/** What it says may change; a post that begins later asks again. */
const FRESH_MS = 10 * 60_000;

const LEVELS: Readonly<Record<string, string>> = {
  public: "PUBLIC_TO_EVERYONE",
  friends: "MUTUAL_FOLLOW_FRIENDS",
  followers: "FOLLOWER_OF_CREATOR",
  private: "SELF_ONLY",
};

/** TikTok's word for the post's privacy; there is no default. */
export function privacyLevelOf({ privacy }: Publication): string | undefined {
  return privacy === undefined ? undefined : LEVELS[privacy];
}

/** Whether everybody may see the post: of others TikTok never gives an id. */
export function isPublic(publication: Publication): boolean {
  return privacyLevelOf(publication) === "PUBLIC_TO_EVERYONE";
}

/** What TikTok said last, unless that is too long ago. */
export function readCreator({ creator: stored }: Handles): Creator | undefined {
  if (stored === undefined) return undefined;
  const creator = JSON.parse(stored) as Creator;
  return Math.abs(Date.now() - creator.readAt) < FRESH_MS ? creator : undefined;
}

function toCreator(data: Data): Creator {
  const maxSeconds = data.max_video_post_duration_sec;
  return {
    readAt: Date.now(),
    privacyLevels: list(data, "privacy_level_options").filter((level) => typeof level === "string"),
    maxSeconds: typeof maxSeconds === "number" ? maxSeconds : null,
    isCommentDisabled: data.comment_disabled === true,
    isDuetDisabled: data.duet_disabled === true,
    isStitchDisabled: data.stitch_disabled === true,
  };
}

/** Never weakened and never widened: what the creator may not do is refused. */
function findObstacle(publication: Publication, creator: Creator): Failure | undefined {
  const level = privacyLevelOf(publication);
  if (level === undefined || !creator.privacyLevels.includes(level)) {
    const message = `the privacy is not one of the account's: ${creator.privacyLevels.join(", ")}`;
    return { kind: "refused", code: "content_rejected", message };
  }
  const { maxSeconds } = creator;
  const isTooLong = publication.media.some(
    ({ durationMs }) => maxSeconds !== null && Math.floor((durationMs ?? 0) / 1000) > maxSeconds,
  );
  if (!isTooLong) return undefined;
  const message = `the account may post films of at most ${maxSeconds} s`;
  return { kind: "refused", code: "media_rejected", message };
}

function toHandles(publication: Publication, answer: PlatformAnswer | NoAnswer): Handles | Failure {
  const data = dataOf(answer);
  if (data === undefined) return toStepFailure(answer);
  const creator = toCreator(data);
  return findObstacle(publication, creator) ?? { creator: JSON.stringify(creator) };
}

/** Asks what the creator may do, and whether this post is among it. */
export async function askForCreator(
  access: TiktokAccess,
  publication: Publication,
  signal: AbortSignal,
): Promise<Handles | Failure> {
  const answer = await ask(access, "post/publish/creator_info/query/", {}, signal);
  return toHandles(publication, answer);
}
