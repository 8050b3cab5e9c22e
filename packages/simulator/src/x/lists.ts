import { type Call, contentType, jsonObject, type Reply } from "#src/http/call.ts";
import type { ShownComment } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import { existsAt, type Post } from "#src/world/posts.ts";
import { NOT_PERMITTED, notFoundEntry, refuseParameter } from "#src/x/errors.ts";
import type { XCall, XNetwork } from "#src/x/network.ts";
import {
  checkParameters,
  FIELD_PARAMETERS,
  instantParameter,
  integerParameter,
  postSelection,
} from "#src/x/query.ts";
import { conversationOf, repliesTo, tweetViews } from "#src/x/tweets.ts";

const PARAMETERS = [
  "since_id",
  "until_id",
  "max_results",
  "pagination_token",
  "exclude",
  "start_time",
  "end_time",
  ...FIELD_PARAMETERS,
];

const TOKEN_PREFIX = "7140";

interface Page {
  readonly posts: readonly Post[];
  readonly nextToken: string | undefined;
}

function tokenAfter(post: Post): string {
  return `${TOKEN_PREFIX}${BigInt(post.id).toString(36)}`;
}

/** The page contains the tweets whose ids are below the id in the token. */
function idOfToken(query: URLSearchParams): bigint | undefined {
  const token = query.get("pagination_token");
  if (token === null) return undefined;
  const digits = token.startsWith(TOKEN_PREFIX) ? token.slice(TOKEN_PREFIX.length) : "";
  if (!/^[0-9a-z]{1,13}$/.test(digits))
    return refuseParameter("pagination_token", token, "The `pagination_token` is not valid.");
  return digits.split("").reduce((id, digit) => id * 36n + BigInt(Number.parseInt(digit, 36)), 0n);
}

function second(instant: number): number {
  return Math.floor(instant / 1000);
}

function idParameter(query: URLSearchParams, name: string): bigint | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  return /^[0-9]{1,19}$/.test(text)
    ? BigInt(text)
    : refuseParameter(name, text, `The \`${name}\` query parameter value [${text}] is not valid`);
}

function postFilterOf(query: URLSearchParams, asOf: number): (post: Post) => boolean {
  const end = instantParameter(query, "end_time") ?? Infinity;
  const sinceId = idParameter(query, "since_id") ?? 0n;
  const untilId = idParameter(query, "until_id") ?? 10n ** 19n;
  const noReplies = (query.get("exclude") ?? "").split(",").includes("replies");
  return (post) =>
    existsAt(post, asOf) &&
    post.createdAt < end &&
    BigInt(post.id) > sinceId &&
    BigInt(post.id) < untilId &&
    !(noReplies && post.replyTo !== undefined);
}

function pageOf(posts: Iterable<Post>, query: URLSearchParams, asOf: number): Page {
  const size = integerParameter(query, "max_results", { min: 5, max: 100, default: 10 });
  const before = idOfToken(query);
  const start = second(instantParameter(query, "start_time") ?? 0);
  const wanted = postFilterOf(query, asOf);
  const found: Post[] = [];
  for (const post of posts) {
    if (second(post.createdAt) < start) break;
    if ((before === undefined || BigInt(post.id) < before) && wanted(post)) {
      const last = found.at(-1);
      if (found.length === size && last !== undefined)
        return { posts: found, nextToken: tokenAfter(last) };
      found.push(post);
    }
  }
  return { posts: found, nextToken: undefined };
}

export function userTimeline(network: XNetwork, { call, asOf }: XCall): Reply {
  const { world } = network;
  checkParameters(call.query, PARAMETERS);
  const selection = postSelection(call.query);
  const id = call.params["id"] ?? "";
  const account = world.accounts.byId("x", id);
  if (account === undefined)
    return { status: 200, body: { errors: [notFoundEntry("user", "id", id)] } };
  const { posts, nextToken } = pageOf(world.posts.newestFirst(account), call.query, asOf);
  const newest = posts[0];
  if (newest === undefined) return { status: 200, body: { meta: { result_count: 0 } } };
  const tweets = posts.map((post) => ({ post, username: account.username }));
  const expansions = call.query.get("expansions");
  const { data, includes } = tweetViews(network, tweets, { selection, expansions, asOf });
  const meta = {
    result_count: posts.length,
    newest_id: newest.id,
    oldest_id: posts.at(-1)?.id,
    ...(nextToken === undefined ? {} : { next_token: nextToken }),
  };
  return { status: 200, body: { data, includes, meta } };
}

const SEARCH_PARAMETERS = [
  "query",
  "max_results",
  "next_token",
  "pagination_token",
  "until_id",
  "sort_order",
  "tweet.fields",
  "post.fields",
  "expansions",
  "user.fields",
  "media.fields",
];
const QUERY = /^(conversation_id|in_reply_to_tweet_id):([0-9]{1,19})$/;
const SEARCH_WINDOW_MS = 7 * 86_400_000;

/** The query of the search has exactly one operator. */
function searched(network: XNetwork, { call, asOf }: XCall) {
  const text = call.query.get("query") ?? "";
  const [, operator, id = ""] = QUERY.exec(text) ?? [];
  if (operator === undefined)
    return refuseParameter(
      "query",
      text,
      "Only `conversation_id:<id>` and `in_reply_to_tweet_id:<id>` are simulated.",
    );
  return operator === "conversation_id"
    ? conversationOf(network, id, asOf)
    : repliesTo(network, id, asOf);
}

/** All are tweet ids; the page contains the tweets with lower ids. */
function tokenParameter(query: URLSearchParams): bigint {
  const name = ["next_token", "pagination_token", "until_id"].find((each) => query.has(each));
  const token = query.get(name ?? "");
  if (name === undefined || token === null) return 10n ** 19n;
  return /^[0-9]{1,19}$/.test(token)
    ? BigInt(token)
    : refuseParameter(name, token, `The \`${name}\` is not valid.`);
}

export function recentSearch(network: XNetwork, xCall: XCall): Reply {
  const { call, now, asOf } = xCall;
  checkParameters(call.query, SEARCH_PARAMETERS);
  const selection = postSelection(call.query);
  const size = integerParameter(call.query, "max_results", { min: 10, max: 100, default: 10 });
  const before = tokenParameter(call.query);
  const found = searched(network, xCall)
    .filter(({ post }) => post.createdAt > now - SEARCH_WINDOW_MS && BigInt(post.id) < before)
    .sort((one, other) => (BigInt(one.post.id) < BigInt(other.post.id) ? 1 : -1));
  const page = found.slice(0, size);
  if (page.length === 0) return { status: 200, body: { meta: { result_count: 0 } } };
  const meta = {
    newest_id: page[0]?.post.id,
    oldest_id: page.at(-1)?.post.id,
    result_count: page.length,
    next_token: found.length > size ? page.at(-1)?.post.id : undefined,
  };
  const expansions = call.query.get("expansions");
  const views = tweetViews(network, page, { selection, expansions, asOf });
  return { status: 200, body: { ...views, meta } };
}

function hiddenField(call: Call): boolean {
  const body = contentType(call) === "application/json" ? jsonObject(call) : undefined;
  const { hidden, ...others } = body ?? {};
  return typeof hidden === "boolean" && Object.keys(others).length === 0
    ? hidden
    : refuseParameter("hidden", hidden, "$.hidden: is missing or not a boolean");
}

/** Only in conversations that the account started. */
export function hideReply(network: XNetwork, { call, account }: XCall): Reply {
  const hidden = hiddenField(call);
  const comment = network.world.reactions.comment("x", call.params["id"] ?? "");
  const root = network.world.posts.get(account, comment?.mediaId ?? "");
  if (comment === undefined || root === undefined || root.deletedAt !== null) return NOT_PERMITTED;
  network.hidden.put(comment.id, hidden);
  return { status: 200, body: { data: { hidden } } };
}

export function shownComments(network: XNetwork, account: Account): readonly ShownComment[] {
  return [...network.world.posts.newestFirst(account)]
    .filter((post) => post.replyTo === undefined)
    .flatMap(({ id }) => conversationOf(network, id, network.world.clock.now()))
    .map(({ post: { id, text, createdAt, replyTo: mediaId = "" }, username: author }) => {
      return { id, mediaId, author, text, hidden: network.hidden.get(id) ?? false, createdAt };
    });
}
