import { isRecord, type Reply } from "#src/http/call.ts";
import { apiAnswer, pickFields, refuse, refuseParameter } from "#src/tiktok/errors.ts";
import { creatorOf, type TiktokCall, type TiktokNetwork } from "#src/tiktok/network.ts";
import { bytesAt, isIdKnownAt, type Publish, statusAt } from "#src/tiktok/publishes.ts";
import type { Account } from "#src/world/accounts.ts";

const UNLIMITED_SECONDS = 86_400;

export function creatorInfo(network: TiktokNetwork, { account }: TiktokCall): Reply {
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

export function userInfo(_network: TiktokNetwork, { call, account }: TiktokCall): Reply {
  const known: Readonly<Record<string, string>> = {
    open_id: account.externalId,
    union_id: `u${account.externalId}`,
    avatar_url: "https://p16-sign.tiktokcdn.com/default.jpeg",
    avatar_large_url: "https://p16-sign.tiktokcdn.com/default-large.jpeg",
    display_name: account.displayName,
    username: account.username,
  };
  return apiAnswer({ user: pickFields(call, known) });
}

const MAX_IDS = 20;
const MAX_COUNT = 20;
/** A longer title or description is cut. */
const MAX_LISTED_CHARACTERS = 150;

function view(
  { world }: TiktokNetwork,
  { call, account, asOf }: TiktokCall,
  publish: Publish,
): unknown {
  const { postId: id = "", kind, title, description, receivedAt = 0 } = publish;
  const counts = world.reactions.metricsAt("tiktok", id, asOf);
  return pickFields(call, {
    id,
    title: title.slice(0, MAX_LISTED_CHARACTERS),
    video_description: (description === "" ? title : description).slice(0, MAX_LISTED_CHARACTERS),
    create_time: Math.floor(receivedAt / 1000),
    share_url: `https://www.tiktok.com/@${account.username}/${kind}/${id}`,
    view_count: counts.views ?? 0,
    like_count: counts.likes ?? 0,
    comment_count: counts.comments ?? 0,
    share_count: counts.shares ?? 0,
  });
}

function listedPublishes(network: TiktokNetwork, account: Account, asOf: number): Publish[] {
  const posts = [...network.world.posts.newestFirst(account)];
  return posts.flatMap(({ id }) => {
    const publish = network.publishes.byPost(id);
    return publish !== undefined && isIdKnownAt(publish, asOf) ? [publish] : [];
  });
}

function idsOf({ body }: TiktokCall): readonly unknown[] {
  const filters = body["filters"];
  const ids = isRecord(filters) ? filters["video_ids"] : undefined;
  return Array.isArray(ids) && ids.length >= 1 && ids.length <= MAX_IDS
    ? ids
    : refuseParameter(`video_ids must be 1 to ${MAX_IDS} ids.`);
}

export function queryVideos(network: TiktokNetwork, call: TiktokCall): Reply {
  const ids = idsOf(call);
  const found = listedPublishes(network, call.account, call.asOf).filter(({ postId }) =>
    ids.includes(postId),
  );
  return apiAnswer({ videos: found.map((one) => view(network, call, one)) });
}

function numberOf(value: unknown, otherwise: number, max: number): number {
  const number = value ?? otherwise;
  return Number.isInteger(number) && Number(number) >= 0 && Number(number) <= max
    ? Number(number)
    : refuseParameter("max_count or cursor is not valid.");
}

/** The cursor is a time in milliseconds; the page has only posts whose media arrived before it. */
export function listVideos(network: TiktokNetwork, call: TiktokCall): Reply {
  const count = numberOf(call.body["max_count"], 10, MAX_COUNT);
  const cursor = numberOf(call.body["cursor"], Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const all = listedPublishes(network, call.account, call.asOf).filter(
    ({ receivedAt = 0 }) => receivedAt < cursor,
  );
  const page = all.slice(0, count);
  return apiAnswer({
    videos: page.map((one) => view(network, call, one)),
    cursor: page.at(-1)?.receivedAt ?? 0,
    has_more: all.length > page.length,
  });
}

/** TikTok's post ids are JSON numbers that are too large for a JavaScript number. */
function rawNumber(digits: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits);
}

function findOwn({ publishes }: TiktokNetwork, { account, body }: TiktokCall): Publish {
  const id = body["publish_id"];
  if (typeof id !== "string") return refuseParameter("publish_id must be a string.");
  const publish = publishes.get(id) ?? refuse("invalid_publish_id");
  return publish.account === account.externalId
    ? publish
    : refuse("token_not_authorized_for_specified_publish_id");
}

/** The field's name depends on whether the client uploads the media or TikTok downloads them. */
function progressOf({ upload, media, receivedAt }: Publish, asOf: number) {
  if (upload !== undefined) return { uploaded_bytes: bytesAt(upload, asOf) };
  const bytes = media.reduce((sum, file) => sum + file.bytes, 0);
  return { downloaded_bytes: (receivedAt ?? Infinity) <= asOf ? bytes : 0 };
}

export function fetchStatus(network: TiktokNetwork, call: TiktokCall): Reply {
  const publish = findOwn(network, call);
  const { asOf } = call;
  const status = statusAt(publish, asOf);
  const { failReason, postId } = publish;
  const isIdReturned = status === "PUBLISH_COMPLETE" && isIdKnownAt(publish, asOf);
  return apiAnswer({
    status,
    ...(status === "FAILED" ? { fail_reason: failReason } : {}),
    ...(isIdReturned && postId !== undefined
      ? // TikTok's API misspells this name.
        { publicaly_available_post_id: [rawNumber(postId)] }
      : { publicaly_available_post_id: [] }),
    ...progressOf(publish, asOf),
  });
}
