import { type Call, contentType, isRecord, jsonObject } from "#src/http/call.ts";
import { refuseParameter } from "#src/x/errors.ts";

export interface TweetBody {
  readonly text: string;
  readonly mediaIds: readonly string[];
  readonly replyTo: string | undefined;
  readonly quoted: string | undefined;
  readonly replySettings: string | undefined;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isId: Check = (value) => typeof value === "string" && /^[0-9]{1,19}$/.test(value);

function listOf(check: Check, min: number, max: number): Check {
  return (value) =>
    Array.isArray(value) && value.length >= min && value.length <= max && value.every(check);
}

function objectOf(
  fields: Readonly<Record<string, Check>>,
  required: readonly string[] = [],
): Check {
  return (value) =>
    isRecord(value) &&
    required.every((name) => name in value) &&
    Object.entries(value).every(([name, field]) => fields[name]?.(field) ?? false);
}

const FIELDS: Readonly<Record<string, Check>> = {
  text: isText,
  media: objectOf({ media_ids: listOf(isId, 1, 4), tagged_user_ids: listOf(isId, 0, 10) }, [
    "media_ids",
  ]),
  reply: objectOf(
    {
      in_reply_to_tweet_id: isId,
      exclude_reply_user_ids: listOf(isId, 0, 100),
      auto_populate_reply_metadata: isFlag,
    },
    ["in_reply_to_tweet_id"],
  ),
  reply_settings: (value) =>
    ["following", "mentionedUsers", "subscribers", "verified"].some((known) => known === value),
  poll: objectOf(
    {
      options: listOf((v) => typeof v === "string" && v.length >= 1 && v.length <= 25, 2, 4),
      duration_minutes: (v) => Number.isInteger(v) && Number(v) >= 5 && Number(v) <= 10_080,
      reply_settings: isText,
    },
    ["options", "duration_minutes"],
  ),
  quote_tweet_id: isId,
  community_id: isId,
  share_with_followers: isFlag,
  edit_options: objectOf({ previous_post_id: isId }, ["previous_post_id"]),
  made_with_ai: isFlag,
  paid_partnership: isFlag,
  for_super_followers_only: isFlag,
  nullcast: isFlag,
  geo: objectOf({ place_id: isText }),
  card_uri: isText,
  direct_message_deep_link: isText,
};

function nestedText(value: unknown, name: string): string | undefined {
  const field = isRecord(value) ? value[name] : undefined;
  return typeof field === "string" ? field : undefined;
}

function nestedList(value: unknown, name: string): readonly string[] {
  const field = isRecord(value) ? value[name] : undefined;
  return Array.isArray(field) ? field.filter((item) => typeof item === "string") : [];
}

export function parseTweetBody(call: Call): TweetBody {
  const body = contentType(call) === "application/json" ? jsonObject(call) : undefined;
  if (body === undefined)
    return refuseParameter(
      "body",
      "",
      "Requests with a body must have content-type of application/json and be valid JSON.",
    );

  for (const [name, value] of Object.entries(body)) {
    const check = FIELDS[name];
    if (check === undefined) {
      const path = `$.${name}`;
      const rule =
        "is not defined in the schema and the schema does not allow additional properties";
      return refuseParameter(path, JSON.stringify(value), `${path}: ${rule}`);
    }
    if (!check(value))
      return refuseParameter(`$.${name}`, JSON.stringify(value), `$.${name}: is not valid`);
  }
  return {
    text: nestedText(body, "text") ?? "",
    mediaIds: nestedList(body["media"], "media_ids"),
    replyTo: nestedText(body["reply"], "in_reply_to_tweet_id"),
    quoted: nestedText(body, "quote_tweet_id"),
    replySettings: nestedText(body, "reply_settings"),
  };
}
