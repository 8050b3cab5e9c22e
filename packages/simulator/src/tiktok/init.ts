import { randomBytes } from "node:crypto";
import { type Call, isRecord, jsonObject, type Reply } from "#src/http/call.ts";
import type { Operations } from "#src/platform.ts";
import { apiAnswer, refuse, refuseParameter } from "#src/tiktok/errors.ts";
import {
  complete,
  creatorOf,
  postsPerDay,
  type TiktokCall,
  type TiktokNetwork,
} from "#src/tiktok/network.ts";
import {
  chunkPlanOf,
  type PrivacyLevel,
  type Publish,
  type Upload,
  UPLOAD_LIFETIME_MS,
} from "#src/tiktok/publishes.ts";
import { checkFetchedMedia, checkMediaUrls, isVerified } from "#src/tiktok/pull.ts";
import type { Account } from "#src/world/accounts.ts";
import { DAY_MS } from "#src/world/limits.ts";

type Fields = Readonly<Record<string, unknown>>;

interface PostInfo {
  readonly title: string;
  readonly description: string;
  readonly privacy: PrivacyLevel;
  readonly options: Readonly<Record<string, unknown>>;
  readonly coverMs?: number | undefined;
}

const LEVELS: readonly PrivacyLevel[] = [
  "PUBLIC_TO_EVERYONE",
  "MUTUAL_FOLLOW_FRIENDS",
  "FOLLOWER_OF_CREATOR",
  "SELF_ONLY",
];

const FLAGS: readonly string[] = [
  "disable_comment",
  "brand_content_toggle",
  "brand_organic_toggle",
];
const VIDEO_FLAGS: readonly string[] = [...FLAGS, "disable_duet", "disable_stitch", "is_aigc"];
const PHOTO_FLAGS: readonly string[] = [...FLAGS, "auto_add_music"];

function section(body: Fields, name: string, known: readonly string[]): Fields {
  const value = body[name];
  if (!isRecord(value)) return refuseParameter(`${name} is missing or is not an object.`);
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  return unknown === undefined ? value : refuseParameter(`${name} has no field ${unknown}.`);
}

function textOf(fields: Fields, name: string, max: number): string {
  const value = fields[name] ?? "";
  if (typeof value !== "string" || value.length > max)
    return refuseParameter(`${name} must be a string of at most ${max} characters.`);
  return value;
}

function checkFlags(fields: Fields, names: readonly string[]): void {
  const wrong = names.find((name) => name in fields && typeof fields[name] !== "boolean");
  if (wrong !== undefined) refuseParameter(`${wrong} must be true or false.`);
}

function privacyOf(network: TiktokNetwork, fields: Fields, account: Account): PrivacyLevel {
  const { privacyLevels, isAudited } = creatorOf(network, account);
  const level = LEVELS.find((known) => known === fields["privacy_level"]);
  if (level === undefined) return refuseParameter("privacy_level is missing or unknown.");
  if (!isAudited && level !== "SELF_ONLY")
    refuse("unaudited_client_can_only_post_to_private_accounts");
  if (!privacyLevels.includes(level)) refuse("privacy_level_option_mismatch");
  if (fields["brand_content_toggle"] === true && level === "SELF_ONLY")
    refuseParameter("Branded content cannot be private.");
  return level;
}

function optionsOf(fields: Fields, names: readonly string[]): Fields {
  const given = [...names, "privacy_level"].filter((name) => name in fields);
  return Object.fromEntries(given.map((name) => [name, fields[name]]));
}

function videoInfo(network: TiktokNetwork, body: Fields, account: Account): PostInfo {
  const known = ["title", "privacy_level", "video_cover_timestamp_ms", ...VIDEO_FLAGS];
  const fields = section(body, "post_info", known);
  checkFlags(fields, VIDEO_FLAGS);
  const title = textOf(fields, "title", 2200);
  const privacy = privacyOf(network, fields, account);
  const options = optionsOf(fields, VIDEO_FLAGS);
  return { title, description: "", privacy, options, coverMs: coverOf(fields) };
}

function coverOf({ video_cover_timestamp_ms: coverMs }: Fields): number | undefined {
  if (coverMs === undefined) return undefined;
  return Number.isSafeInteger(coverMs) && Number(coverMs) >= 0
    ? Number(coverMs)
    : refuseParameter("video_cover_timestamp_ms must be a number of milliseconds.");
}

function photoInfo(network: TiktokNetwork, body: Fields, account: Account): PostInfo {
  const known = ["title", "description", "privacy_level", ...PHOTO_FLAGS];
  const fields = section(body, "post_info", known);
  checkFlags(fields, PHOTO_FLAGS);
  const title = textOf(fields, "title", 90);
  const description = textOf(fields, "description", 4000);
  const options = optionsOf(fields, PHOTO_FLAGS);
  return { title, description, privacy: privacyOf(network, fields, account), options };
}

/**
 * Maximum number of creators who may post within 24 hours through an app that TikTok has not
 * audited (Content Posting API, "Content sharing guidelines", 2026).
 */
const MAX_UNAUDITED_USERS = 5;

function spendUser({ world }: TiktokNetwork, account: Account, now: number): void {
  const { limits, settings } = world;
  const own = { key: `tiktok:user:${account.externalId}`, limit: 1, windowMs: DAY_MS };
  if (settings.values.audited || limits.read(own, now).remaining === 0) return;
  const rule = { key: "tiktok:users", limit: MAX_UNAUDITED_USERS, windowMs: DAY_MS };
  if (!limits.spend([rule, own], now).allowed) refuse("reached_active_user_cap");
}

function spendPost(network: TiktokNetwork, account: Account, now: number): void {
  spendUser(network, account, now);
  const { world } = network;
  const key = `tiktok:posts:${account.externalId}`;
  const limit = postsPerDay(network);
  if (!world.limits.take({ key, limit, windowMs: DAY_MS }, now)) refuse("spam_risk_too_many_posts");
}

const MAX_PHOTOS = 35;

function sourceOf(body: Fields): unknown {
  const source = body["source_info"];
  return isRecord(source) ? source["source"] : undefined;
}

/** A publish id has at most 64 characters. */
function begin(
  { externalId: account }: Account,
  createdAt: number,
  info: PostInfo,
  prefix: "v_pub_file" | "v_pub_url" | "p_pub_url",
): Publish {
  const id = `${prefix}~v2-1.${randomBytes(9).readBigUInt64BE().toString()}`;
  const kind = prefix === "p_pub_url" ? "photo" : "video";
  return { ...info, id, account, kind, createdAt, media: [] };
}

function initUpload(network: TiktokNetwork, { account, body, call, now }: TiktokCall): Reply {
  const info = videoInfo(network, body, account);
  const plan = chunkPlanOf(
    section(body, "source_info", ["source", "video_size", "chunk_size", "total_chunk_count"]),
    network.world.settings.values.tiktokWholeVideoBytes,
  );
  spendPost(network, account, now);
  const upload: Upload = {
    ...plan,
    id: randomBytes(9).readBigUInt64BE().toString(),
    token: network.world.secrets.issueToken(32),
    contentType: undefined,
    chunkTimes: [],
    expiresAt: now + UPLOAD_LIFETIME_MS,
  };
  const { id } = network.publishes.put({ ...begin(account, now, info, "v_pub_file"), upload });
  const query = new URLSearchParams({ upload_id: upload.id, upload_token: upload.token });
  const uploadUrl = `${call.baseUrl}/open-upload/video/?${query.toString()}`;
  return apiAnswer({ publish_id: id, upload_url: uploadUrl });
}

function initPull(network: TiktokNetwork, { account, body, now, fetched }: TiktokCall): Reply {
  const info = videoInfo(network, body, account);
  const source = section(body, "source_info", ["source", "video_url"]);
  const urls = checkMediaUrls([source["video_url"]]);
  spendPost(network, account, now);
  const publish = begin(account, now, info, "v_pub_url");
  complete(network, publish, { ...checkFetchedMedia("video", urls, fetched), now });
  return apiAnswer({ publish_id: publish.id });
}

export function initVideo(network: TiktokNetwork, call: TiktokCall): Reply {
  switch (sourceOf(call.body)) {
    case "FILE_UPLOAD":
      return initUpload(network, call);
    case "PULL_FROM_URL":
      return initPull(network, call);
    default:
      return refuseParameter("source must be FILE_UPLOAD or PULL_FROM_URL.");
  }
}

function photosOf(body: Fields): readonly unknown[] {
  const source = section(body, "source_info", ["source", "photo_images", "photo_cover_index"]);
  const photos = source["photo_images"];
  if (source["source"] !== "PULL_FROM_URL") refuseParameter("source must be PULL_FROM_URL.");
  if (!Array.isArray(photos) || photos.length < 1 || photos.length > MAX_PHOTOS)
    return refuseParameter(`photo_images must be 1 to ${MAX_PHOTOS} URLs.`);
  const cover = source["photo_cover_index"] ?? 0;
  if (!Number.isInteger(cover) || Number(cover) < 0 || Number(cover) >= photos.length)
    refuseParameter("photo_cover_index must be the index of a photo.");
  return photos;
}

export function initPhoto(
  network: TiktokNetwork,
  { account, body, now, fetched }: TiktokCall,
): Reply {
  if (body["media_type"] !== "PHOTO" || body["post_mode"] !== "DIRECT_POST")
    refuseParameter("media_type must be PHOTO and post_mode DIRECT_POST.");
  const info = photoInfo(network, body, account);
  const urls = checkMediaUrls(photosOf(body));
  spendPost(network, account, now);
  const publish = begin(account, now, info, "p_pub_url");
  complete(network, publish, { ...checkFetchedMedia("photo", urls, fetched), now });
  return apiAnswer({ publish_id: publish.id });
}

export function mediaUrlsOf(call: Call): readonly string[] {
  const source = jsonObject(call)?.["source_info"];
  if (!isRecord(source) || source["source"] !== "PULL_FROM_URL") return [];
  const photos = source["photo_images"];
  const named: readonly unknown[] = Array.isArray(photos) ? photos : [source["video_url"]];
  return named.filter(isVerified).slice(0, MAX_PHOTOS);
}

/** When TikTok fetches the video itself, the call that starts a post also makes it visible. */
export function videoOperations(call: Call): Operations {
  return sourceOf(jsonObject(call) ?? {}) === "PULL_FROM_URL" ? ["publish", "create"] : ["create"];
}
