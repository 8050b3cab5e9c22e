import { bearerToken, type Call, formOf, type Reply } from "#src/http/call.ts";
import { authorizeRoutes } from "#src/oauth/authorize.ts";
import type { IssuedAccount, Platform } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import { inventName } from "#src/world/names.ts";
import type { World } from "#src/world/world.ts";
import { hideReply, recentSearch, shownComments } from "#src/x/comments.ts";
import { createTweet } from "#src/x/create-tweet.ts";
import { deleteTweet } from "#src/x/delete-tweet.ts";
import { toRoute } from "#src/x/endpoint.ts";
import { NOT_PERMITTED, oauthError, statusProblem } from "#src/x/errors.ts";
import { tweetById, tweetsByIds, usersMe } from "#src/x/lookup.ts";
import { mediaMetadata } from "#src/x/media-metadata.ts";
import { mediaStatus } from "#src/x/media-status.ts";
import { mediaUploads } from "#src/x/media-upload.ts";
import { createNetwork, type XNetwork } from "#src/x/network.ts";
import { oauthRoutes } from "#src/x/oauth.ts";
import { userTimeline } from "#src/x/timeline.ts";
import { SCOPES } from "#src/x/tokens.ts";

const USERNAME = /^[A-Za-z0-9_]{1,15}$/;
/** Tests cannot wait for the end of a real rate limit window. */
const SIMULATED_WAIT_MS = 2000;

function usernameFault(username: string): string | undefined {
  return USERNAME.test(username) ? undefined : "use 1 to 15 letters, digits and underscores";
}

function issueAccount(
  { world, tokens }: XNetwork,
  username: string | undefined,
  scopes = SCOPES,
): IssuedAccount {
  const { accounts, clock, snowflakes } = world;
  const now = clock.now();
  const invented = inventName(
    ({ words, number }) =>
      accounts.byUsername("x", `${words.join("")}${number}`.slice(0, 15)) !== undefined,
  );
  const name = username ?? `${invented.words.join("")}${invented.number}`.slice(0, 15);
  const account =
    accounts.byUsername("x", name) ??
    accounts.add({
      platform: "x",
      externalId: snowflakes.next(now),
      username: name,
      displayName: invented.displayName,
    });
  const access = { account: account.externalId, scopes };
  const { scopes: _scopes, ...credentials } = tokens.issue(access, now);
  return { account, credentials };
}

function accountOf({ world, tokens }: XNetwork, call: Call): Account | undefined {
  const token =
    bearerToken(call) ??
    (call.path.startsWith("/2/oauth2/")
      ? (formOf(call).get("refresh_token") ?? formOf(call).get("token"))
      : undefined);
  const id = tokens.ownerOf(token ?? "");
  return id === undefined ? undefined : world.accounts.byId("x", id);
}

function errorReply(status: number, now: number): Reply {
  const reply = statusProblem(status);
  if (status !== 429) return reply;

  const reset = String(Math.ceil((now + SIMULATED_WAIT_MS) / 1000));
  const limits = { "x-rate-limit-limit": "100", "x-rate-limit-remaining": "0" };
  return { ...reply, headers: { ...reply.headers, ...limits, "x-rate-limit-reset": reset } };
}

function refusal(operation: string): Reply {
  return operation === "refresh"
    ? oauthError(400, "invalid_request", "Value passed for the token was invalid.")
    : NOT_PERMITTED;
}

export function createX(world: World): Platform {
  const network = createNetwork(world);
  const endpoints = [
    createTweet(network),
    userTimeline(network),
    tweetsByIds(network),
    tweetById(network),
    deleteTweet(network),
    usersMe(),
    recentSearch(network),
    hideReply(network),
    ...mediaUploads(network),
    mediaStatus(network),
    mediaMetadata(network),
  ];
  return {
    id: "x",
    routes: [
      ...endpoints.map((endpoint) => toRoute(network, endpoint)),
      ...oauthRoutes(network),
      ...authorizeRoutes({
        platform: "x",
        path: "/i/oauth2/authorize",
        clientParameter: "client_id",
        scopeSeparator: " ",
        scopes: SCOPES,
        pkce: "required",
        settings: world.settings,
        codes: network.codes,
        usernameFault,
        ensureAccount: (username) => issueAccount(network, username).account,
      }),
    ],
    usernameFault,
    issueAccount: (username, scopes) => issueAccount(network, username, scopes),
    accountOf: (call) => accountOf(network, call),
    loggedPath: (path) => path,
    errorReply: (status, _call, now) => errorReply(status, now),
    refusal,
    notFound: () => statusProblem(404),
    newCommentId: (now) => world.snowflakes.next(now),
    commentsOf: (account) => shownComments(network, account),
  };
}
