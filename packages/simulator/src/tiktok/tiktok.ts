import { randomBytes } from "node:crypto";
import { bearerToken, type Call, formOf, type Reply } from "#src/http/call.ts";
import { authorizeRoutes } from "#src/oauth/authorize.ts";
import type { IssuedAccount, Platform } from "#src/platform.ts";
import { creatorEndpoints } from "#src/tiktok/creator-info.ts";
import { toRoute } from "#src/tiktok/endpoint.ts";
import { apiError, bareStatus, oauthError, statusError } from "#src/tiktok/errors.ts";
import { initEndpoints } from "#src/tiktok/init.ts";
import { createNetwork, type TiktokNetwork } from "#src/tiktok/network.ts";
import { oauthRoutes } from "#src/tiktok/oauth.ts";
import { statusEndpoints } from "#src/tiktok/status.ts";
import { ALL_SCOPES } from "#src/tiktok/tokens.ts";
import { UPLOAD_PATH, uploadRoute } from "#src/tiktok/upload.ts";
import { videoEndpoints } from "#src/tiktok/videos.ts";
import type { Account } from "#src/world/accounts.ts";
import { inventName } from "#src/world/names.ts";
import type { World } from "#src/world/world.ts";

const USERNAME = /^[a-z0-9_.]{2,24}(?<!\.)$/i;
const MAX_BODY_BYTES = 128_000_000;

function usernameFault(username: string): string | undefined {
  return USERNAME.test(username)
    ? undefined
    : "use 2 to 24 letters, digits, underscores and periods; do not end with a period";
}

function issueAccount(
  { world, tokens }: TiktokNetwork,
  username: string | undefined,
): IssuedAccount {
  const { accounts, clock } = world;
  const nameOf = (words: readonly string[], number: number) => `${words.join(".")}${number}`;
  const invented = inventName(
    ({ words, number }) => accounts.byUsername("tiktok", nameOf(words, number)) !== undefined,
  );
  const name = username ?? nameOf(invented.words, invented.number);
  const account =
    accounts.byUsername("tiktok", name) ??
    accounts.add({
      platform: "tiktok",
      externalId: `-000${randomBytes(24).toString("base64url")}`,
      username: name,
      displayName: invented.displayName,
    });
  const { accessToken, refreshToken, expiresInSeconds } = tokens.issue(
    account.externalId,
    ALL_SCOPES,
    clock.now(),
  );
  return { account, credentials: { accessToken, refreshToken, expiresInSeconds } };
}

function ownerOf({ tokens, publishes }: TiktokNetwork, call: Call): string | undefined {
  if (call.path === UPLOAD_PATH)
    return publishes.byUpload(call.query.get("upload_id") ?? "")?.account;

  const token =
    bearerToken(call) ??
    (call.path.startsWith("/v2/oauth/")
      ? (formOf(call).get("refresh_token") ?? formOf(call).get("token"))
      : undefined);
  return tokens.ownerOf(token ?? "");
}

function accountOf(network: TiktokNetwork, call: Call): Account | undefined {
  const id = ownerOf(network, call);
  return id === undefined ? undefined : network.world.accounts.byId("tiktok", id);
}

function errorReply(status: number, call: Call): Reply {
  if (call.path === UPLOAD_PATH) return bareStatus(status);

  return call.path.startsWith("/v2/oauth/")
    ? oauthError(status, "internal_error", "Something is wrong. Please try again later.")
    : statusError(status);
}

function refusal(operation: string, call: Call): Reply {
  if (call.path === UPLOAD_PATH) return bareStatus(403);

  switch (operation) {
    case "refresh":
      return oauthError(200, "invalid_grant", "Refresh token is invalid or expired.");
    case "publish":
    case "create":
      return apiError("spam_risk_user_banned_from_posting");
    default:
      return apiError("scope_not_authorized");
  }
}

export function createTiktok(world: World): Platform {
  const network = createNetwork(world);
  const endpoints = [
    ...creatorEndpoints(network),
    ...initEndpoints(network),
    ...statusEndpoints(network),
    ...videoEndpoints(network),
  ];
  return {
    id: "tiktok",
    maxBodyBytes: MAX_BODY_BYTES,
    routes: [
      ...endpoints.map((endpoint) => toRoute(network, endpoint)),
      uploadRoute(network),
      ...oauthRoutes(network),
      ...authorizeRoutes({
        platform: "tiktok",
        path: "/v2/auth/authorize/",
        clientParameter: "client_key",
        scopeSeparator: ",",
        scopes: ALL_SCOPES,
        // TikTok does not support PKCE for websites, so the simulator refuses a code challenge.
        pkce: "none",
        settings: world.settings,
        codes: network.codes,
        usernameFault,
        ensureAccount: (username) => issueAccount(network, username).account,
      }),
    ],
    usernameFault,
    issueAccount: (username) => issueAccount(network, username),
    accountOf: (call) => accountOf(network, call),
    loggedPath: (path) => path,
    errorReply: (status, call) => errorReply(status, call),
    refusal,
    notFound: () => apiError("not_found"),
  };
}
