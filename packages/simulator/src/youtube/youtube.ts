import { randomBytes } from "node:crypto";
import type { Call, Reply } from "#src/http/call.ts";
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
import { shownComments } from "#src/youtube/comment-view.ts";
import {
  deleteComment,
  listComments,
  listThreads,
  moderateComments,
  replyToComment,
} from "#src/youtube/comments.ts";
import { oauthError, statusError } from "#src/youtube/errors.ts";
import { insertOperations, insertVideo, UPLOAD_PATH } from "#src/youtube/insert-video.ts";
import {
  createNetwork,
  serve,
  type YoutubeEndpoint,
  type YoutubeNetwork,
} from "#src/youtube/network.ts";
import {
  insertPlaylistItem,
  listChannels,
  listPlaylistItems,
} from "#src/youtube/playlist-items.ts";
import { uploadOwner, uploadRoute } from "#src/youtube/upload.ts";
import { deleteVideo, listVideos, videoOperations } from "#src/youtube/video-list.ts";

const UPLOAD = "https://www.googleapis.com/auth/youtube.upload";
const READ = "https://www.googleapis.com/auth/youtube.readonly";
const ALL = "https://www.googleapis.com/auth/youtube.force-ssl";
const ANALYTICS = "https://www.googleapis.com/auth/yt-analytics.readonly";
const SCOPES: readonly string[] = [UPLOAD, READ, ALL, ANALYTICS];

type Rules = Pick<YoutubeEndpoint, "scopes" | "cost" | "parameters">;

function reading(parameters: string, scopes = [READ, ALL]): Rules {
  return { scopes, cost: { units: 1 }, parameters: parameters.split(" ") };
}

function writing(parameters: string): Rules {
  return { scopes: [ALL], cost: { units: 50 }, parameters: parameters.split(" ") };
}

const INSERTING: Rules = {
  scopes: [UPLOAD, ALL],
  cost: "upload",
  parameters: [
    "uploadType",
    "part",
    "notifySubscribers",
    "autoLevels",
    "stabilize",
    "onBehalfOfContentOwner",
    "onBehalfOfContentOwnerChannel",
  ],
};
const VIDEOS = "/youtube/v3/videos";
const ITEMS = "/youtube/v3/playlistItems";
const COMMENTS = "/youtube/v3/comments";
const THREADS = "/youtube/v3/commentThreads";
const THREADS_QUERY = "part id videoId moderationStatus textFormat maxResults pageToken order";
const COMMENTS_QUERY = "part id parentId maxResults pageToken textFormat";
const MODERATION_QUERY = "id moderationStatus banAuthor";

const ENDPOINTS: readonly YoutubeEndpoint[] = [
  on(`POST ${UPLOAD_PATH}`, insertOperations, insertVideo, INSERTING),
  on(`GET ${VIDEOS}`, videoOperations, listVideos, reading("part id hl maxResults")),
  on(`DELETE ${VIDEOS}`, ["delete"], deleteVideo, writing("id onBehalfOfContentOwner")),
  on("GET /youtube/v3/channels", ["account"], listChannels, reading("part mine maxResults")),
  on(
    `GET ${ITEMS}`,
    ["status"],
    listPlaylistItems,
    reading("part playlistId videoId maxResults pageToken"),
  ),
  on(`POST ${ITEMS}`, ["other"], insertPlaylistItem, writing("part")),
  on(`GET ${THREADS}`, ["comments"], listThreads, reading(THREADS_QUERY, [ALL])),
  on(`GET ${COMMENTS}`, ["comments"], listComments, reading(COMMENTS_QUERY, [ALL])),
  on(`POST ${COMMENTS}`, ["reply"], replyToComment, writing("part")),
  on(`POST ${COMMENTS}/setModerationStatus`, ["hide"], moderateComments, writing(MODERATION_QUERY)),
  on(`DELETE ${COMMENTS}`, ["other"], deleteComment, writing("id")),
];

const MAX_BODY_BYTES = 1_100_000_000;
const OAUTH_PATHS: readonly string[] = ["/token", "/revoke"];
const INVALID_GRANT = oauthError(400, "invalid_grant", "Token has been expired or revoked.");

function issueAccount(
  { world, tokens }: YoutubeNetwork,
  username: string | undefined,
  scopes = SCOPES,
): IssuedAccount {
  const account = world.accounts.ensure("youtube", username, {
    nameOf: (words, number) => `${words.join("")}${number}`,
    newId: () => `UC${randomBytes(17).toString("base64url").slice(0, 22)}`,
  });
  return { account, credentials: tokens.credentials(account, scopes) };
}

function clientOf(_call: Call, form: URLSearchParams): string | Reply {
  // Any client id and client secret are accepted.
  return ["client_id", "client_secret"].some((name) => (form.get(name) ?? "") === "")
    ? oauthError(401, "invalid_client", "The OAuth client was not found.")
    : (form.get("client_id") ?? "");
}

function toOAuthCalls({ tokens, world }: YoutubeNetwork, platform: AccountIssuer): OAuthCalls {
  return {
    tokens,
    paths: { token: "/token", revoke: "/revoke" },
    page: {
      platform,
      path: "/o/oauth2/v2/auth",
      clientParameter: "client_id",
      scopeSeparator: " ",
      scopes: SCOPES,
      pkce: "optional",
      settings: world.settings,
    },
    clientOf,
    refuse: (why) =>
      why === "unsupported"
        ? oauthError(400, "unsupported_grant_type", "Invalid grant_type")
        : INVALID_GRANT,
    further: () => ({}),
    revoke: ({ query }, form) =>
      tokens.revoke(form.get("token") ?? query.get("token") ?? "").wasValid
        ? { status: 200, body: {} }
        : oauthError(400, "invalid_token", "Token expired or revoked"),
  };
}

/** Version 3 of the Data API, and Google's token endpoints, below one prefix. */
export function createYoutube(world: World): Platform {
  const network = createNetwork(world);
  const accounts: AccountIssuer = {
    id: "youtube",
    usernameFault: usernameCheck(
      /^[A-Za-z0-9._-]{3,30}$/,
      "use 3 to 30 letters, digits, periods, underscores and hyphens",
    ),
    issueAccount: (username, scopes) => issueAccount(network, username, scopes),
  };
  return {
    ...accounts,
    routes: [
      ...toRoutes(network, ENDPOINTS, serve),
      uploadRoute(network),
      ...oauthRoutes(toOAuthCalls(network, accounts)),
    ],
    maxBodyBytes: MAX_BODY_BYTES,
    accountOf: (call) =>
      network.tokens.accountOf(presentedToken(call, OAUTH_PATHS.includes(call.path))) ??
      world.accounts.byId("youtube", uploadOwner(network, call) ?? ""),
    errorReply: (status, call) =>
      OAUTH_PATHS.includes(call.path)
        ? oauthError(status, status < 500 ? "invalid_request" : "internal_failure", "Error")
        : statusError(status),
    refusal: (operation) => (operation === "refresh" ? INVALID_GRANT : statusError(403)),
    notFound: () => statusError(404),
    newCommentId: () => `Ug${randomBytes(12).toString("base64url")}`,
    commentsOf: (account) => shownComments(network, account),
  };
}
