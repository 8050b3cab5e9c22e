import type { Operation } from "#src/faults/rule.ts";
import { type Call, isRecord, jsonObject, Refused, type Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";
import type { PostedMedia } from "#src/world/posts.ts";
import type { Endpoint, XCall } from "#src/x/endpoint.ts";
import {
  DUPLICATE,
  NOT_PERMITTED,
  NOT_SUMMONED,
  forbidden,
  refuseParameter,
} from "#src/x/errors.ts";
import type { XNetwork } from "#src/x/network.ts";
import { renderText } from "#src/x/render.ts";
import { parseTweetBody, type TweetBody } from "#src/x/tweet-body.ts";
import { maxLengthOf } from "#src/x/verified-types.ts";
import { weightedLength } from "#src/x/weighted-length.ts";

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

function create(network: XNetwork, xCall: XCall): Reply {
  const { account, now, call } = xCall;
  const body = parseTweetBody(call);
  checkText(body, account);
  const media = mediaOf(network, xCall, body);
  if (body.quoted !== undefined) throw new Refused(NOT_PERMITTED);

  const { text, replyTo, replySettings } = body;
  if (replyTo !== undefined) checkReply(network, xCall, replyTo);

  const content = { text, media, ...(replyTo === undefined ? {} : { replyTo }) };
  if (network.tweets.hasDuplicate(account, content, now)) throw new Refused(DUPLICATE);

  const id = network.world.snowflakes.next(now);
  const post = network.world.posts.add({
    platform: "x",
    account: account.externalId,
    id,
    createdAt: now,
    deletedAt: null,
    createCalls: 1,
    ...(replySettings === undefined ? {} : { options: { reply_settings: replySettings } }),
    ...content,
  });
  network.tweets.remember(post);
  const data = { id, text: renderText(post).text, edit_history_post_ids: [id] };
  return { status: 201, body: { data } };
}

/** `reply` for an answer to a reader's comment; an own tweet in a thread is a `publish`. */
function operationsOf(network: XNetwork, call: Call): readonly [Operation, ...Operation[]] {
  const reply = jsonObject(call)?.["reply"];
  const parent = isRecord(reply) ? reply["in_reply_to_tweet_id"] : undefined;
  const answersReader =
    typeof parent === "string" && network.world.reactions.comment("x", parent) !== undefined;
  return answersReader ? ["reply"] : ["publish", "create"];
}

export function createTweet(network: XNetwork): Endpoint {
  return {
    method: "POST",
    path: "/2/tweets",
    operations: (call) => operationsOf(network, call),
    bucket: "create",
    perUser: 100,
    isLimitedDaily: true,
    handle: (call) => create(network, call),
  };
}
