import { randomBytes } from "node:crypto";
import { type Call, contentType, type Reply } from "#src/http/call.ts";
import { type OAuthCalls, oauthRoutes, presentedToken } from "#src/oauth/tokens.ts";
import {
  type AccountIssuer,
  type IssuedAccount,
  on,
  type Platform,
  toRoutes,
  usernameCheck,
} from "#src/platform.ts";
import { apiError, bareStatus, oauthError, statusError } from "#src/tiktok/errors.ts";
import { initPhoto, initVideo, mediaUrlsOf, videoOperations } from "#src/tiktok/init.ts";
import {
  createNetwork,
  REFRESH_LIFETIME_MS,
  serve,
  type TiktokEndpoint,
  type TiktokNetwork,
} from "#src/tiktok/network.ts";
import {
  creatorInfo,
  fetchStatus,
  listVideos,
  queryVideos,
  userInfo,
} from "#src/tiktok/queries.ts";
import { UPLOAD_PATH, uploadRoute } from "#src/tiktok/upload.ts";
import type { World } from "#src/world/world.ts";

const SCOPES: readonly string[] = [
  "user.info.basic",
  "user.info.profile",
  "user.info.stats",
  "video.list",
  "video.upload",
  "video.publish",
];

type Rules = Pick<TiktokEndpoint, "scope" | "bucket" | "perMinute">;

function publishing(bucket: string, perMinute: number): Rules {
  return { scope: "video.publish", bucket, perMinute };
}

function listing(bucket: string): Rules {
  return { scope: "video.list", bucket, perMinute: 600 };
}

const USER_INFO: Rules = { scope: "user.info.basic", bucket: "user_info", perMinute: 600 };
const INIT = { ...publishing("init", 6), fetches: mediaUrlsOf };
const PUBLISH = "/v2/post/publish";

const ENDPOINTS: readonly TiktokEndpoint[] = [
  on(
    `POST ${PUBLISH}/creator_info/query/`,
    ["account"],
    creatorInfo,
    publishing("creator_info", 20),
  ),
  on("GET /v2/user/info/", ["account"], userInfo, USER_INFO),
  on(`POST ${PUBLISH}/video/init/`, videoOperations, initVideo, INIT),
  on(`POST ${PUBLISH}/content/init/`, ["publish", "create"], initPhoto, INIT),
  on(`POST ${PUBLISH}/status/fetch/`, ["status"], fetchStatus, publishing("status", 30)),
  on("POST /v2/video/list/", ["status"], listVideos, listing("video_list")),
  on("POST /v2/video/query/", ["metrics"], queryVideos, listing("video_query")),
];

/** The largest last chunk of an upload. */
const MAX_BODY_BYTES = 128_000_000;

function issueAccount(
  { world, tokens }: TiktokNetwork,
  username: string | undefined,
): IssuedAccount {
  const account = world.accounts.ensure("tiktok", username, {
    nameOf: (words, number) => `${words.join(".")}${number}`,
    newId: () => `-000${randomBytes(24).toString("base64url")}`,
  });
  return { account, credentials: tokens.credentials(account, SCOPES) };
}

/** TikTok answers most invalid token calls with status 200 and an error. */
function refuseClient(call: Call, form: URLSearchParams): Reply | undefined {
  if (contentType(call) !== "application/x-www-form-urlencoded")
    return oauthError(200, "invalid_request", "The Content-Type is not a form.");
  // Any app id and app secret are accepted.
  const isApp = ["client_key", "client_secret"].every((name) => (form.get(name) ?? "") !== "");
  return isApp
    ? undefined
    : oauthError(200, "invalid_client", "Client key or secret is incorrect.");
}

function invalidGrant(what: string): Reply {
  return oauthError(200, "invalid_grant", `${what} is invalid or expired.`);
}

function revoke({ tokens }: TiktokNetwork, call: Call, form: URLSearchParams): Reply {
  const refused = refuseClient(call, form);
  if (refused !== undefined) return refused;
  return tokens.revoke(form.get("token") ?? "").isKnown
    ? { status: 200, body: {} }
    : oauthError(200, "invalid_request", "The token is invalid or expired.");
}

function toOAuthCalls(network: TiktokNetwork, platform: AccountIssuer): OAuthCalls {
  return {
    tokens: network.tokens,
    paths: { token: "/v2/oauth/token/", revoke: "/v2/oauth/revoke/" },
    page: {
      platform,
      path: "/v2/auth/authorize/",
      clientParameter: "client_key",
      scopeSeparator: ",",
      scopes: SCOPES,
      // TikTok does not support PKCE for websites.
      pkce: "none",
      settings: network.world.settings,
    },
    clientOf: (call, form) => refuseClient(call, form) ?? form.get("client_key") ?? "",
    refuse: (why) =>
      why === "unsupported"
        ? oauthError(200, "unsupported_grant_type", "The grant type is not supported.")
        : invalidGrant(why === "code" ? "Authorization code" : "Refresh token"),
    further: ({ account }) => ({
      open_id: account,
      refresh_expires_in: REFRESH_LIFETIME_MS / 1000,
    }),
    revoke: (call, form) => revoke(network, call, form),
  };
}

function isTokenCall({ path }: Call): boolean {
  return path.startsWith("/v2/oauth/");
}

function errorReply(status: number, call: Call): Reply {
  if (call.path === UPLOAD_PATH) return bareStatus(status);
  return isTokenCall(call)
    ? oauthError(status, "internal_error", "Something is wrong. Please try again later.")
    : statusError(status);
}

function refusal(operation: string, call: Call): Reply {
  if (call.path === UPLOAD_PATH) return bareStatus(403);
  switch (operation) {
    case "refresh":
      return invalidGrant("Refresh token");
    case "publish":
    case "create":
      return apiError("spam_risk_user_banned_from_posting");
    default:
      return apiError("scope_not_authorized");
  }
}

function ownerOf({ publishes, tokens, world }: TiktokNetwork, call: Call) {
  const upload = call.path === UPLOAD_PATH ? (call.query.get("upload_id") ?? "") : undefined;
  return upload === undefined
    ? tokens.accountOf(presentedToken(call, isTokenCall(call)))
    : world.accounts.byId("tiktok", publishes.byUpload(upload)?.account ?? "");
}

/** The Content Posting API, the Display API, and the upload host below `/open-upload`. */
export function createTiktok(world: World): Platform {
  const network = createNetwork(world);
  const accounts: AccountIssuer = {
    id: "tiktok",
    usernameFault: usernameCheck(
      /^[a-z0-9_.]{2,24}(?<!\.)$/i,
      "use 2 to 24 letters, digits, underscores and periods; do not end with a period",
    ),
    issueAccount: (username) => issueAccount(network, username),
  };
  return {
    ...accounts,
    maxBodyBytes: MAX_BODY_BYTES,
    routes: [
      ...toRoutes(network, ENDPOINTS, serve),
      uploadRoute(network),
      ...oauthRoutes(toOAuthCalls(network, accounts)),
    ],
    accountOf: (call) => ownerOf(network, call),
    errorReply,
    refusal,
    notFound: () => apiError("not_found"),
  };
}
