import type { PlatformId, PlatformRules } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { postsApi } from "../../posts/posts-api.ts";

export function useCommentRules(platform: PlatformId): PlatformRules | undefined {
  const { data } = useQuery(postsApi.platforms());
  return data?.platforms.find(({ id }) => id === platform)?.rules;
}

export interface ReplyLimit {
  readonly max: number;
  readonly unit: PlatformRules["text"]["unit"];
}

const API_LIMIT: ReplyLimit = { max: 10_000, unit: "utf16" };

/** On X and Bluesky a reply is a post; other platforms do not state how long a reply may be. */
export function replyLimitOf(platform: PlatformId, rules: PlatformRules): ReplyLimit {
  const { max, unit } = rules.text;
  return platform === "x" || platform === "bluesky" ? { max, unit } : API_LIMIT;
}
