import type { AvailableReader } from "#src/settings/available-reader.ts";
import { type CreatorInfo, fetchCreatorInfo } from "./publishing/creator-info.ts";

/** Our words for TikTok's privacy levels, in the order from the widest. */
const AUDIENCES: readonly (readonly [level: string, audience: string])[] = [
  ["PUBLIC_TO_EVERYONE", "public"],
  ["FOLLOWER_OF_CREATOR", "followers"],
  ["MUTUAL_FOLLOW_FRIENDS", "friends"],
  ["SELF_ONLY", "only_me"],
];

function toAvailable(creator: CreatorInfo) {
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

/** Creates the reader of what TikTok allows the owner of an account (creator) to post now. */
export function createTiktokAvailableReader(baseUrl: string): AvailableReader {
  return async (account, signal) => {
    const creator = await fetchCreatorInfo({ baseUrl, account }, signal);
    return "kind" in creator
      ? { kind: "failed", message: creator.message }
      : { kind: "available", values: toAvailable(creator) };
  };
}
