import type { Reply } from "#src/http/call.ts";
import { isVisibleAt, type Post } from "#src/world/posts.ts";
import type { Endpoint, XCall } from "#src/x/endpoint.ts";
import { notFoundEntry, refuseParameter } from "#src/x/errors.ts";
import type { XNetwork } from "#src/x/network.ts";
import {
  checkParameters,
  FIELD_PARAMETERS,
  instantParameter,
  integerParameter,
  postSelection,
} from "#src/x/query.ts";
import { tweetViews } from "#src/x/tweets.ts";

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
    isVisibleAt(post, asOf) &&
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

function timeline(network: XNetwork, { call, asOf }: XCall): Reply {
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

export function userTimeline(network: XNetwork): Endpoint {
  return {
    method: "GET",
    path: "/2/users/:id/tweets",
    operations: () => ["status"],
    reads: true,
    bucket: "timeline",
    perUser: 900,
    handle: (call) => timeline(network, call),
  };
}
