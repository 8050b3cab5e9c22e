import type { Reply } from "#src/http/call.ts";
import type { Endpoint, TiktokCall } from "#src/tiktok/endpoint.ts";
import { apiAnswer, refuseParameter } from "#src/tiktok/errors.ts";
import { creatorOf, type TiktokNetwork } from "#src/tiktok/network.ts";

const UNLIMITED_SECONDS = 86_400;

function creatorInfo(network: TiktokNetwork, { account }: TiktokCall): Reply {
  const { privacyLevels, maxSeconds } = creatorOf(network, account);
  return apiAnswer({
    creator_avatar_url: "https://p16-sign.tiktokcdn.com/default.jpeg",
    creator_username: account.username,
    creator_nickname: account.displayName,
    privacy_level_options: privacyLevels,
    comment_disabled: false,
    duet_disabled: false,
    stitch_disabled: true,
    max_video_post_duration_sec: network.world.settings.values.quotas
      ? maxSeconds
      : UNLIMITED_SECONDS,
  });
}

const USER_FIELDS: readonly string[] = [
  "open_id",
  "union_id",
  "avatar_url",
  "avatar_large_url",
  "display_name",
  "username",
];

function userInfo({ call, account }: TiktokCall): Reply {
  const fields = (call.query.get("fields") ?? "").split(",").filter((name) => name !== "");
  const unknown = fields.find((name) => !USER_FIELDS.includes(name));
  if (fields.length === 0 || unknown !== undefined)
    refuseParameter(`The fields are missing or unknown: ${unknown ?? ""}`);

  const known: Readonly<Record<string, string>> = {
    open_id: account.externalId,
    union_id: `u${account.externalId}`,
    avatar_url: "https://p16-sign.tiktokcdn.com/default.jpeg",
    avatar_large_url: "https://p16-sign.tiktokcdn.com/default-large.jpeg",
    display_name: account.displayName,
    username: account.username,
  };
  const user = Object.fromEntries(fields.map((name) => [name, known[name]]));
  return apiAnswer({ user });
}

export function creatorEndpoints(network: TiktokNetwork): readonly Endpoint[] {
  return [
    {
      method: "POST",
      path: "/v2/post/publish/creator_info/query/",
      operations: () => ["account"],
      scope: "video.publish",
      bucket: "creator_info",
      perMinute: 20,
      handle: (call) => creatorInfo(network, call),
    },
    {
      method: "GET",
      path: "/v2/user/info/",
      operations: () => ["account"],
      scope: "user.info.basic",
      bucket: "user_info",
      perMinute: 600,
      handle: userInfo,
    },
  ];
}
