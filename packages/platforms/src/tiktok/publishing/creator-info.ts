import { type JsonObject, list, number } from "#src/http/platform-answer.ts";
import type { Caller } from "#src/publishing/caller.ts";
import { type Handles, jsonHandle } from "#src/publishing/handles.ts";
import { type Failure, refused } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { readSettings } from "#src/settings/read-settings.ts";
import { SETTINGS } from "#src/tiktok/facts.ts";
import { askTiktok, dataOf } from "./calls.ts";
import { toStepFailure } from "./failures.ts";

export interface CreatorInfo {
  readonly readAt: number;
  readonly privacyLevels: readonly string[];
  readonly maxSeconds: number | null;
  readonly isCommentDisabled: boolean;
  readonly isDuetDisabled: boolean;
  readonly isStitchDisabled: boolean;
}

const MAX_AGE_MS = 10 * 60_000;

const CREATOR = jsonHandle<CreatorInfo>("creator");

const LEVELS: Readonly<Record<string, string>> = {
  public: "PUBLIC_TO_EVERYONE",
  friends: "MUTUAL_FOLLOW_FRIENDS",
  followers: "FOLLOWER_OF_CREATOR",
  private: "SELF_ONLY",
  only_me: "SELF_ONLY",
};

/**
 * TikTok has no default, and no level for unlisted posts: a setting of the account says who sees
 * those.
 */
export function privacyLevelOf({ privacy, settings }: Publication): string | undefined {
  if (privacy === "unlisted") return LEVELS[readSettings(SETTINGS, settings).unlistedAs];
  return privacy === undefined ? undefined : LEVELS[privacy];
}

/** TikTok assigns an id to public posts only. */
export function isPublic(publication: Publication): boolean {
  return privacyLevelOf(publication) === "PUBLIC_TO_EVERYONE";
}

export function readCreatorInfo(handles: Handles): CreatorInfo | undefined {
  const creator = CREATOR.read(handles);
  if (creator === undefined) return undefined;
  return Math.abs(Date.now() - creator.readAt) < MAX_AGE_MS ? creator : undefined;
}

function toCreatorInfo(data: JsonObject): CreatorInfo {
  return {
    readAt: Date.now(),
    privacyLevels: list(data, "privacy_level_options").filter((level) => typeof level === "string"),
    maxSeconds: number(data, "max_video_post_duration_sec") ?? null,
    isCommentDisabled: data.comment_disabled === true,
    isDuetDisabled: data.duet_disabled === true,
    isStitchDisabled: data.stitch_disabled === true,
  };
}

const AUDIENCES: readonly (readonly [level: string, audience: string])[] = [
  ["PUBLIC_TO_EVERYONE", "public"],
  ["FOLLOWER_OF_CREATOR", "followers"],
  ["MUTUAL_FOLLOW_FRIENDS", "friends"],
  ["SELF_ONLY", "only_me"],
];

export function toAvailable(creator: CreatorInfo): JsonObject {
  return {
    audiences: AUDIENCES.filter(([level]) => creator.privacyLevels.includes(level)).map(
      ([, audience]) => audience,
    ),
    allowComment: !creator.isCommentDisabled,
    allowDuet: !creator.isDuetDisabled,
    allowStitch: !creator.isStitchDisabled,
    maxVideoSeconds: creator.maxSeconds,
  };
}

/** The privacy of the post is never changed to make it allowed. */
function findRefusal(publication: Publication, creator: CreatorInfo): Failure | undefined {
  const facts = { available: toAvailable(creator) };
  const level = privacyLevelOf(publication);
  if (level === undefined || !creator.privacyLevels.includes(level)) {
    const message = `the account allows only these privacy levels: ${creator.privacyLevels.join(", ")}`;
    return { ...refused("content_rejected", message), facts };
  }
  const { maxSeconds } = creator;
  const isTooLong = publication.media.some(
    ({ durationMs }) => maxSeconds !== null && Math.floor((durationMs ?? 0) / 1000) > maxSeconds,
  );
  if (!isTooLong) return undefined;
  const message = `the account may post videos of at most ${maxSeconds} s`;
  return { ...refused("media_rejected", message), facts };
}

export async function fetchCreatorInfo(tiktok: Caller): Promise<CreatorInfo | Failure> {
  const answer = await askTiktok(tiktok, "post/publish/creator_info/query/", {});
  const data = dataOf(answer);
  return data === undefined ? toStepFailure(answer) : toCreatorInfo(data);
}

export async function askForCreatorInfo(
  tiktok: Caller,
  publication: Publication,
): Promise<Handles | Failure> {
  const creator = await fetchCreatorInfo(tiktok);
  if ("kind" in creator) return creator;
  return findRefusal(publication, creator) ?? CREATOR.write(creator);
}

/**
 * An interaction is off if the settings do not allow it, or if the creator has turned it off on
 * TikTok.
 */
function toCommonFlags({ settings }: Publication, { isCommentDisabled }: CreatorInfo) {
  const { allowComment, disclosure } = readSettings(SETTINGS, settings);
  return {
    disable_comment: isCommentDisabled || !allowComment,
    brand_content_toggle: disclosure === "paid",
    brand_organic_toggle: disclosure === "own_brand",
  };
}

export function toVideoFlags(publication: Publication, creator: CreatorInfo) {
  const { allowDuet, allowStitch } = readSettings(SETTINGS, publication.settings);
  return {
    ...toCommonFlags(publication, creator),
    disable_duet: creator.isDuetDisabled || !allowDuet,
    disable_stitch: creator.isStitchDisabled || !allowStitch,
  };
}

export function toPhotoFlags(publication: Publication, creator: CreatorInfo) {
  const { autoAddMusic } = readSettings(SETTINGS, publication.settings);
  return { ...toCommonFlags(publication, creator), auto_add_music: autoAddMusic };
}
