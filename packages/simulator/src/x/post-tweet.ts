import {
  type Call,
  contentType,
  isRecord,
  jsonObject,
  Refused,
  type Reply,
} from "#src/http/call.ts";
import type { Operations } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import {
  DUPLICATE,
  forbidden,
  NOT_PERMITTED,
  NOT_SUMMONED,
  refuseParameter,
} from "#src/x/errors.ts";
import type { XCall, XNetwork } from "#src/x/network.ts";
import { renderText, weightedLength } from "#src/x/text.ts";
import { maxLengthOf } from "#src/x/tweets.ts";

interface TweetBody {
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

function parseTweetBody(call: Call): TweetBody {
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

const CASHTAG =
  /(?:^|\s)\$[a-z]{1,6}(?:[._][a-z]{1,2})?(?=$|\s|[!'#%&()*+,\\\-./:;<=>?@[\]^_{|}~$])/gi;

function checkText({ text, mediaIds }: TweetBody, account: Account): void {
  if (text.trim() === "" && mediaIds.length === 0)
    refuseParameter("text", text, "A post needs text or media.");
  const length = weightedLength(text);
  const maxLength = maxLengthOf(account);
  if (length > maxLength)
    refuseParameter("text", text, `Your post text is too long: ${length} of ${maxLength}.`);
  if ((text.match(CASHTAG)?.length ?? 0) > 1)
    throw new Refused(forbidden("A post can contain at most one cashtag."));
}

/** Up to four photos, one GIF or one video, each of the account, processed and not expired. */
function mediaOf(
  network: XNetwork,
  { account, now }: XCall,
  { mediaIds }: TweetBody,
): PostedMedia[] {
  const media = mediaIds.flatMap((id) => network.media.usable(account.externalId, id, now) ?? []);
  const isMixed = media.length > 1 && media.some(({ kind }) => kind !== "image");
  const isTwice = new Set(mediaIds).size < mediaIds.length;
  if (media.length < mediaIds.length || isMixed || isTwice)
    refuseParameter("media.media_ids", mediaIds.join(","), "Your media IDs are invalid.");
  return media;
}

/** Own tweets, and comments that mention the account. */
function checkReply(network: XNetwork, { account }: XCall, replyTo: string): void {
  const own = network.world.posts.get(account, replyTo);
  if (own !== undefined && own.deletedAt === null) return;
  const comment = network.world.reactions.comment("x", replyTo);
  if (comment === undefined)
    throw new Refused(
      forbidden("You attempted to reply to a Tweet that is deleted or not visible to you."),
    );
  if (!comment.text.toLowerCase().includes(`@${account.username.toLowerCase()}`))
    throw new Refused(NOT_SUMMONED);
}

export function createTweet(network: XNetwork, xCall: XCall): Reply {
  const { account, now, call } = xCall;
  const body = parseTweetBody(call);
  checkText(body, account);
  const media = mediaOf(network, xCall, body);
  if (body.quoted !== undefined) throw new Refused(NOT_PERMITTED);
  const { text, replyTo, replySettings } = body;
  if (replyTo !== undefined) checkReply(network, xCall, replyTo);
  const content = { text, media, replyTo };
  const areRepeatedRefused = network.world.settings.values.repeatedPosts === "refused";
  if (areRepeatedRefused && network.tweets.hasDuplicate(account, content, now))
    throw new Refused(DUPLICATE);
  const id = network.world.snowflakes.next(now);
  const post = network.world.posts.add({
    platform: "x",
    account: account.externalId,
    id,
    createdAt: now,
    options: replySettings === undefined ? undefined : { reply_settings: replySettings },
    ...content,
  });
  network.tweets.remember(post);
  const data = { id, text: renderText(post).text, edit_history_post_ids: [id] };
  return { status: 201, body: { data } };
}

/** `reply` for an answer to a reader's comment; an own tweet in a thread is a `publish`. */
export function tweetOperations(call: Call, network: XNetwork): Operations {
  const reply = jsonObject(call)?.["reply"];
  const parent = isRecord(reply) ? reply["in_reply_to_tweet_id"] : undefined;
  const answersReader =
    typeof parent === "string" && network.world.reactions.comment("x", parent) !== undefined;
  return answersReader ? ["reply"] : ["publish", "create"];
}

export function deleteTweet(network: XNetwork, { call, account, now }: XCall): Reply {
  const { posts } = network.world;
  const id = call.params["id"] ?? "";
  if (!/^[0-9]{1,19}$/.test(id)) refuseParameter("id", id, "The `id` path parameter is not valid");
  const post = network.tweets.find(id);
  if (post !== undefined && post.account !== account.externalId) return NOT_PERMITTED;
  // X does not document its response to a second deletion.
  if (post !== undefined && post.deletedAt === null) posts.change(post, { deletedAt: now });
  return { status: 200, body: { data: { deleted: true } } };
}
