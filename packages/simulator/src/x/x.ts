import { type Call, formOf, type Reply } from "#src/http/call.ts";
import { type OAuthCalls, oauthRoutes, presentedToken } from "#src/oauth/tokens.ts";
import {
  type AccountIssuer,
  type IssuedAccount,
  on,
  type Platform,
  toRoutes,
  usernameCheck,
} from "#src/platform.ts";
import type { World } from "#src/world/world.ts";
import {
  NOT_PERMITTED,
  notFoundEntry,
  oauthError,
  refuseParameter,
  statusProblem,
} from "#src/x/errors.ts";
import { hideReply, recentSearch, shownComments, userTimeline } from "#src/x/lists.ts";
import {
  append,
  finalize,
  initialize,
  mediaMetadata,
  mediaStatus,
  uploadImage,
} from "#src/x/media-calls.ts";
import { createNetwork, serve, type XCall, type XEndpoint, type XNetwork } from "#src/x/network.ts";
import { createTweet, deleteTweet, tweetOperations } from "#src/x/post-tweet.ts";
import { checkParameters, FIELD_PARAMETERS, fieldSet, postSelection } from "#src/x/query.ts";
import { findTweet, tweetViews, verifiedTypeOf } from "#src/x/tweets.ts";

const MAX_IDS = 100;
const ID = /^[0-9]{1,19}$/;

const USER_FIELDS: readonly string[] = [
  "created_at",
  "description",
  "id",
  "name",
  "profile_image_url",
  "protected",
  "public_metrics",
  "subscription_type",
  "username",
  "verified",
  "verified_type",
];

function idsOf(query: URLSearchParams): string[] {
  const text = query.get("ids") ?? "";
  const ids = text.split(",");
  if (ids.length > MAX_IDS || !ids.every((id) => ID.test(id)))
    refuseParameter("ids", text, `The \`ids\` query parameter takes 1 to ${MAX_IDS} ids`);
  return ids;
}

function lookUp(network: XNetwork, { call, asOf }: XCall, ids: readonly string[]) {
  const selection = postSelection(call.query);
  const tweets = ids.flatMap((id) => findTweet(network, id, asOf) ?? []);
  const known = new Set(tweets.map(({ post }) => post.id));
  const errors = ids.filter((id) => !known.has(id)).map((id) => notFoundEntry("tweet", "ids", id));
  const expansions = call.query.get("expansions");
  const { data, includes } = tweetViews(network, tweets, { selection, expansions, asOf });
  return { data, includes, errors: errors.length === 0 ? undefined : errors };
}

function tweetsByIds(network: XNetwork, xCall: XCall): Reply {
  checkParameters(xCall.call.query, ["ids", ...FIELD_PARAMETERS]);
  const { data, includes, errors } = lookUp(network, xCall, idsOf(xCall.call.query));
  return { status: 200, body: { data: data.length === 0 ? undefined : data, includes, errors } };
}

function tweetById(network: XNetwork, xCall: XCall): Reply {
  checkParameters(xCall.call.query, FIELD_PARAMETERS);
  const id = xCall.call.params["id"] ?? "";
  if (!ID.test(id)) refuseParameter("id", id, "The `id` path parameter is not valid");
  const { data, includes, errors } = lookUp(network, xCall, [id]);
  return { status: 200, body: { data: data[0], includes, errors } };
}

function usersMe(_network: XNetwork, { call, account }: XCall): Reply {
  checkParameters(call.query, ["user.fields", "expansions", "tweet.fields", "post.fields"]);
  const fields = fieldSet(call.query, "user.fields", USER_FIELDS);
  const verifiedType = verifiedTypeOf(account);
  const optional: Record<string, unknown> = {
    description: "",
    profile_image_url:
      "https://abs.twimg.com/sticky/default_profile_images/default_profile_normal.png",
    protected: false,
    verified: verifiedType !== "none",
    verified_type: verifiedType,
  };
  const chosen = Object.entries(optional).filter(([name]) => fields.has(name));
  const { externalId, displayName, username } = account;
  const data = { id: externalId, name: displayName, username, ...Object.fromEntries(chosen) };
  return { status: 200, body: { data } };
}

/** Clients request the answered tweets when they read a comment. */
function readsReplies(query: URLSearchParams): "comments" | "metrics" {
  const fields = (query.get("tweet.fields") ?? "").split(",");
  return fields.includes("referenced_tweets") ? "comments" : "metrics";
}

const SCOPES: readonly string[] = [
  "tweet.write",
  "tweet.read",
  "users.read",
  "media.write",
  "tweet.moderate.write",
  "offline.access",
];

const POSTING = { bucket: "create", perUser: 100, isLimitedDaily: true };
const HIDING = { scope: "tweet.moderate.write", bucket: "hide", perUser: 50 };
const LOOKUP = { bucket: "lookup", perUser: 5000 };
const UPLOAD = { bucket: "upload", perUser: 500 };
const SEGMENTS = { bucket: "segments", perUser: 1875 };

const ENDPOINTS: readonly XEndpoint[] = [
  on("POST /2/tweets", tweetOperations, createTweet, POSTING),
  on("GET /2/tweets", ({ query }) => [readsReplies(query)], tweetsByIds, LOOKUP),
  on("GET /2/tweets/:id", ["status"], tweetById, LOOKUP),
  on("DELETE /2/tweets/:id", ["delete"], deleteTweet, { bucket: "delete", perUser: 50 }),
  on("PUT /2/tweets/:id/hidden", ["hide"], hideReply, HIDING),
  on("GET /2/tweets/search/recent", ["comments"], recentSearch, { bucket: "search", perUser: 300 }),
  on("GET /2/users/:id/tweets", ["status"], userTimeline, { bucket: "timeline", perUser: 900 }),
  on("GET /2/users/me", ["account"], usersMe, { bucket: "me", perUser: 75 }),
  on("POST /2/media/upload", ["upload"], uploadImage, UPLOAD),
  on("GET /2/media/upload", ["status"], mediaStatus, { bucket: "upload_status", perUser: 1000 }),
  on("POST /2/media/upload/initialize", ["upload"], initialize, UPLOAD),
  on("POST /2/media/upload/:id/append", ["upload"], append, SEGMENTS),
  on("POST /2/media/upload/:id/finalize", ["upload"], finalize, UPLOAD),
  on("POST /2/media/metadata", ["upload"], mediaMetadata, { bucket: "metadata", perUser: 500 }),
];

/** Tests cannot wait for the end of a real rate limit window. */
const SIMULATED_WAIT_MS = 2000;

function issueAccount(
  { world, tokens }: XNetwork,
  username: string | undefined,
  scopes = SCOPES,
): IssuedAccount {
  const account = world.accounts.ensure("x", username, {
    nameOf: (words, number) => `${words.join("")}${number}`.slice(0, 15),
    newId: () => world.snowflakes.next(world.clock.now()),
  });
  return { account, credentials: tokens.credentials(account, scopes) };
}

function errorReply(status: number, now: number): Reply {
  const reply = statusProblem(status);
  if (status !== 429) return reply;
  const reset = String(Math.ceil((now + SIMULATED_WAIT_MS) / 1000));
  const limits = { "x-rate-limit-limit": "100", "x-rate-limit-remaining": "0" };
  return { ...reply, headers: { ...reply.headers, ...limits, "x-rate-limit-reset": reset } };
}

function invalidValue(what: string): Reply {
  return oauthError(400, "invalid_request", `Value passed for the ${what} was invalid.`);
}

/**
 * From the Basic header for a confidential app, from the form for a public one. Every client id is
 * accepted.
 */
function clientOf(call: Call): string {
  const [scheme, credentials] = (call.headers.authorization ?? "").split(" ", 2);
  const name =
    Buffer.from(credentials ?? "", "base64")
      .toString("utf8")
      .split(":", 1)[0] ?? "";
  return scheme?.toLowerCase() === "basic" ? name : (formOf(call).get("client_id") ?? "");
}

const CLIENT_MISSING = oauthError(401, "unauthorized_client", "Missing valid authorization header");

function revoke({ tokens }: XNetwork, call: Call, form: URLSearchParams): Reply {
  if (clientOf(call) === "") return CLIENT_MISSING;
  const value = form.get("token") ?? "";
  if (value === "")
    return oauthError(400, "invalid_request", "Missing required parameter [token].");
  tokens.revoke(value);
  return { status: 200, body: { revoked: true } };
}

function toOAuthCalls(network: XNetwork, platform: AccountIssuer): OAuthCalls {
  return {
    tokens: network.tokens,
    paths: { token: "/2/oauth2/token", revoke: "/2/oauth2/revoke" },
    page: {
      platform,
      path: "/i/oauth2/authorize",
      clientParameter: "client_id",
      scopeSeparator: " ",
      scopes: SCOPES,
      pkce: "required",
      settings: network.world.settings,
    },
    clientOf: (call) => clientOf(call) || CLIENT_MISSING,
    refuse: (why) =>
      why === "unsupported"
        ? oauthError(400, "unsupported_grant_type", "The grant type is not supported.")
        : invalidValue(why === "code" ? "authorization code" : "token"),
    further: () => ({ token_type: "bearer" }),
    revoke: (call, form) => revoke(network, call, form),
  };
}

export function createX(world: World): Platform {
  const network = createNetwork(world);
  const accounts: AccountIssuer = {
    id: "x",
    usernameFault: usernameCheck(
      /^[A-Za-z0-9_]{1,15}$/,
      "use 1 to 15 letters, digits and underscores",
    ),
    issueAccount: (username, scopes) => issueAccount(network, username, scopes),
  };
  return {
    ...accounts,
    routes: [
      ...toRoutes(network, ENDPOINTS, serve),
      ...oauthRoutes(toOAuthCalls(network, accounts)),
    ],
    accountOf: (call) =>
      network.tokens.accountOf(presentedToken(call, call.path.startsWith("/2/oauth2/"))),
    errorReply: (status, _call, now) => errorReply(status, now),
    refusal: (operation) => (operation === "refresh" ? invalidValue("token") : NOT_PERMITTED),
    notFound: () => statusProblem(404),
    newCommentId: (now) => world.snowflakes.next(now),
    commentsOf: (account) => shownComments(network, account),
  };
}
