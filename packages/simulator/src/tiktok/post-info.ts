import { isRecord } from "#src/http/call.ts";
import { refuse, refuseParameter } from "#src/tiktok/errors.ts";
import { creatorOf, postsPerDay, type TiktokNetwork } from "#src/tiktok/network.ts";
import type { PrivacyLevel } from "#src/tiktok/publishes.ts";
import type { Account } from "#src/world/accounts.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface PostInfo {
  readonly title: string;
  readonly description: string;
  readonly privacy: PrivacyLevel;
  readonly options: Readonly<Record<string, unknown>>;
  readonly coverMs?: number;
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

const DAY_MS = 86_400_000;

export function section(body: Fields, name: string, known: readonly string[]): Fields {
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

export function videoInfo(network: TiktokNetwork, body: Fields, account: Account): PostInfo {
  const known = ["title", "privacy_level", "video_cover_timestamp_ms", ...VIDEO_FLAGS];
  const fields = section(body, "post_info", known);
  checkFlags(fields, VIDEO_FLAGS);
  const title = textOf(fields, "title", 2200);
  const privacy = privacyOf(network, fields, account);
  const options = optionsOf(fields, VIDEO_FLAGS);
  return { title, description: "", privacy, options, ...coverOf(fields) };
}

function coverOf({ video_cover_timestamp_ms: coverMs }: Fields): Pick<PostInfo, "coverMs"> {
  if (coverMs === undefined) return {};

  return Number.isSafeInteger(coverMs) && Number(coverMs) >= 0
    ? { coverMs: Number(coverMs) }
    : refuseParameter("video_cover_timestamp_ms must be a number of milliseconds.");
}

export function photoInfo(network: TiktokNetwork, body: Fields, account: Account): PostInfo {
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

export function spendPost(network: TiktokNetwork, account: Account, now: number): void {
  spendUser(network, account, now);
  const { world } = network;
  const key = `tiktok:posts:${account.externalId}`;
  const limit = postsPerDay(network);
  if (!world.limits.spend([{ key, limit, windowMs: DAY_MS }], now).allowed)
    refuse("spam_risk_too_many_posts");
}
