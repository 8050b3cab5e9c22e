import { createHash } from "node:crypto";
import { contentType, jsonObject } from "#src/http/call.ts";
import type { Call, Reply } from "#src/http/call.ts";
import type { Post } from "#src/world/posts.ts";
import type { Comment } from "#src/world/reactions.ts";
import type { Endpoint, XCall } from "#src/x/endpoint.ts";
import { NOT_PERMITTED, refuseParameter } from "#src/x/errors.ts";
import type { XNetwork } from "#src/x/network.ts";
import { checkParameters, integerParameter, postSelection } from "#src/x/query.ts";
import { tweetView } from "#src/x/tweet-view.ts";

const PARAMETERS = [
  "query",
  "max_results",
  "next_token",
  "pagination_token",
  "sort_order",
  "tweet.fields",
  "post.fields",
  "expansions",
  "user.fields",
  "media.fields",
];
const QUERY = /^conversation_id:([0-9]{1,19})$/;
const SEARCH_WINDOW_MS = 7 * 86_400_000;

/**
 * A numeric X user id derived from the author's name, because readers have no accounts in the
 * simulator.
 */
function authorId(author: string): string {
  return BigInt(`0x${createHash("sha256").update(author).digest("hex").slice(0, 15)}`).toString();
}

/** A reader's comment on X, as the X API returns it: in the form of a tweet. */
function commentPost(comment: Comment): Post {
  return {
    platform: "x",
    account: authorId(comment.author),
    id: comment.id,
    text: comment.text,
    media: [],
    createdAt: comment.createdAt,
    deletedAt: null,
    createCalls: 1,
    replyTo: comment.mediaId,
  };
}

function searchedConversation(query: URLSearchParams): string {
  const text = query.get("query") ?? "";
  return (
    QUERY.exec(text)?.[1] ??
    refuseParameter("query", text, "Only `conversation_id:<id>` is simulated.")
  );
}

/**
 * Reads the page token of a search on X. The page contains the comments whose ids are below the id
 * in the token.
 */
function tokenParameter(query: URLSearchParams): bigint {
  const token = query.get("next_token") ?? query.get("pagination_token");
  if (token === null) {
    return 10n ** 19n;
  }
  return /^[0-9]{1,19}$/.test(token)
    ? BigInt(token)
    : refuseParameter("next_token", token, "The `next_token` is not valid.");
}

function search(network: XNetwork, { call, now, asOf }: XCall): Reply {
  checkParameters(call.query, PARAMETERS);
  const selection = postSelection(call.query);
  const size = integerParameter(call.query, "max_results", { min: 10, max: 100, default: 10 });
  const before = tokenParameter(call.query);
  const comments = network.world.reactions
    .commentsOn("x", searchedConversation(call.query))
    .filter((comment) => comment.createdAt > now - SEARCH_WINDOW_MS && comment.createdAt <= asOf)
    .filter((comment) => BigInt(comment.id) < before)
    .sort((one, other) => (BigInt(one.id) < BigInt(other.id) ? 1 : -1));
  const page = comments.slice(0, size);
  if (page.length === 0) {
    return { status: 200, body: { meta: { result_count: 0 } } };
  }
  const next = comments.length > size ? page.at(-1)?.id : undefined;
  const users = [...new Set(page.map((comment) => comment.author))].map((username) => ({
    id: authorId(username),
    name: username,
    username,
  }));
  const wantsUsers = (call.query.get("expansions") ?? "").split(",").includes("author_id");
  const body = {
    data: page.map((comment) => tweetView(commentPost(comment), {}, selection)),
    includes: wantsUsers ? { users } : undefined,
    meta: {
      newest_id: page[0]?.id,
      oldest_id: page.at(-1)?.id,
      result_count: page.length,
      next_token: next,
    },
  };
  return { status: 200, body };
}

function hiddenField(call: Call): boolean {
  const body = contentType(call) === "application/json" ? jsonObject(call) : undefined;
  const { hidden, ...others } = body ?? {};
  return typeof hidden === "boolean" && Object.keys(others).length === 0
    ? hidden
    : refuseParameter("hidden", hidden, "$.hidden: is missing or not a boolean");
}

/**
 * Hides or shows a reply on X. An account can only hide replies in conversations that it started.
 */
function hide(network: XNetwork, { call, account }: XCall): Reply {
  const hidden = hiddenField(call);
  const comment = network.world.reactions.comment("x", call.params["id"] ?? "");
  const root = network.world.posts.get(account, comment?.mediaId ?? "");
  if (comment === undefined || root === undefined || root.deletedAt !== null) {
    return NOT_PERMITTED;
  }
  network.hidden.put(comment.id, hidden);
  return { status: 200, body: { data: { hidden } } };
}

/**
 * `GET /2/tweets/search/recent`: the tweets of one conversation of the last seven days, newest
 * first.
 */
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

/** `PUT /2/tweets/:id/hidden`: hides or shows a reply on X. */
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
