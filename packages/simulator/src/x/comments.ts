import { type Call, contentType, jsonObject, type Reply } from "#src/http/call.ts";
import type { ShownComment } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Endpoint, XCall } from "#src/x/endpoint.ts";
import { NOT_PERMITTED, refuseParameter } from "#src/x/errors.ts";
import type { XNetwork } from "#src/x/network.ts";
import { checkParameters, integerParameter, postSelection } from "#src/x/query.ts";
import { conversationOf, repliesTo, tweetViews } from "#src/x/tweets.ts";

const PARAMETERS = [
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

function search(network: XNetwork, xCall: XCall): Reply {
  const { call, now, asOf } = xCall;
  checkParameters(call.query, PARAMETERS);
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
function hide(network: XNetwork, { call, account }: XCall): Reply {
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

export function recentSearch(network: XNetwork): Endpoint {
  return {
    method: "GET",
    path: "/2/tweets/search/recent",
    operations: () => ["comments"],
    reads: true,
    bucket: "search",
    perUser: 300,
    handle: (call) => search(network, call),
  };
}

export function hideReply(network: XNetwork): Endpoint {
  return {
    method: "PUT",
    path: "/2/tweets/:id/hidden",
    operations: () => ["hide"],
    scope: "tweet.moderate.write",
    bucket: "hide",
    perUser: 50,
    handle: (call) => hide(network, call),
  };
}
