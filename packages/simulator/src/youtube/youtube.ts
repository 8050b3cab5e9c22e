import { randomBytes } from "node:crypto";
import { bearerToken, type Call, formOf, type Reply } from "#src/http/call.ts";
import { authorizeRoutes } from "#src/oauth/authorize.ts";
import type { IssuedAccount, Platform } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import { inventName } from "#src/world/names.ts";
import type { World } from "#src/world/world.ts";
import { beginUpload } from "#src/youtube/begin-upload.ts";
import { listChannels } from "#src/youtube/channels.ts";
import { shownComments } from "#src/youtube/comment-view.ts";
import { commentEndpoints } from "#src/youtube/comments.ts";
import { toRoute } from "#src/youtube/endpoint.ts";
import { oauthError, statusError } from "#src/youtube/errors.ts";
import { createNetwork, type YoutubeNetwork } from "#src/youtube/network.ts";
import { INVALID_GRANT, oauthRoutes } from "#src/youtube/oauth.ts";
import { insertPlaylistItem, listPlaylistItems } from "#src/youtube/playlist-items.ts";
import { ALL_SCOPES } from "#src/youtube/tokens.ts";
import { uploadOwner, uploadRoute } from "#src/youtube/upload.ts";
import { deleteVideo, listVideos } from "#src/youtube/video-list.ts";

const HANDLE = /^[A-Za-z0-9._-]{3,30}$/;
const MAX_BODY_BYTES = 1_100_000_000;
const OAUTH_PATHS: readonly string[] = ["/token", "/revoke"];

function usernameFault(username: string): string | undefined {
  return HANDLE.test(username)
    ? undefined
    : "use 3 to 30 letters, digits, periods, underscores and hyphens";
}

function issueAccount(
  { world, tokens }: YoutubeNetwork,
  username?: string,
  scopes = ALL_SCOPES,
): IssuedAccount {
  const { accounts, clock } = world;
  const invented = inventName(
    ({ words, number }) =>
      accounts.byUsername("youtube", `${words.join("")}${number}`) !== undefined,
  );
  const name = username ?? `${invented.words.join("")}${invented.number}`;
  const account =
    accounts.byUsername("youtube", name) ??
    accounts.add({
      platform: "youtube",
      externalId: `UC${randomBytes(17).toString("base64url").slice(0, 22)}`,
      username: name,
      displayName: invented.displayName,
    });
  const { scopes: _scopes, ...credentials } = tokens.issue(account.externalId, scopes, clock.now());
  return { account, credentials };
}

function accountOf(network: YoutubeNetwork, call: Call): Account | undefined {
  const form = OAUTH_PATHS.includes(call.path) ? formOf(call) : undefined;
  const token = bearerToken(call) ?? form?.get("refresh_token") ?? form?.get("token") ?? "";
  const id = network.tokens.ownerOf(token) ?? uploadOwner(network, call);
  return id === undefined ? undefined : network.world.accounts.byId("youtube", id);
}

function errorReply(status: number, call: Call): Reply {
  return OAUTH_PATHS.includes(call.path)
    ? oauthError(status, status < 500 ? "invalid_request" : "internal_failure", "Error")
    : statusError(status);
}

/** Version 3 of the Data API, and Google's token endpoints, below one prefix. */
export function createYoutube(world: World): Platform {
  const network = createNetwork(world);
  const endpoints = [
    beginUpload(network),
    listVideos(network),
    deleteVideo(network),
    listChannels(),
    listPlaylistItems(network),
    insertPlaylistItem(network),
    ...commentEndpoints(network),
  ];
  return {
    id: "youtube",
    routes: [
      ...endpoints.map((endpoint) => toRoute(network, endpoint)),
      uploadRoute(network),
      ...oauthRoutes(network),
      ...authorizeRoutes({
        platform: "youtube",
        path: "/o/oauth2/v2/auth",
        clientParameter: "client_id",
        scopeSeparator: " ",
        scopes: ALL_SCOPES,
        pkce: "optional",
        settings: world.settings,
        codes: network.codes,
        usernameFault,
        ensureAccount: (username) => issueAccount(network, username).account,
      }),
    ],
    maxBodyBytes: MAX_BODY_BYTES,
    usernameFault,
    issueAccount: (username, scopes) => issueAccount(network, username, scopes),
    accountOf: (call) => accountOf(network, call),
    loggedPath: (path) => path,
    errorReply,
    refusal: (operation) => (operation === "refresh" ? INVALID_GRANT : statusError(403)),
    notFound: () => statusError(404),
    commentsOf: (account) => shownComments(network, account),
    newCommentId: () => `Ug${randomBytes(12).toString("base64url")}`,
  };
}
