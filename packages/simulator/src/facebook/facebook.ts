import { newCommentId, shownComments } from "#src/facebook/comment-view.ts";
import { listComments, replyToComment } from "#src/facebook/comments.ts";
import { createFeedPost } from "#src/facebook/feed.ts";
import { createNetwork, type FacebookNetwork } from "#src/facebook/network.ts";
import { COUNTERS, deleteNode, readNode, updateNode } from "#src/facebook/node.ts";
import { createPhoto } from "#src/facebook/photos.ts";
import { sendPrivateReply } from "#src/facebook/private-reply.ts";
import { listPublishedPosts } from "#src/facebook/published-posts.ts";
import { REEL_EDGE, createReel } from "#src/facebook/reels.ts";
import { PUBLISHING_SCOPES, SCOPES } from "#src/facebook/scopes.ts";
import { createVideo } from "#src/facebook/videos.ts";
import { accountOf, type GraphFlavour, toGraphRoute } from "#src/graph/endpoint.ts";
import { graphError } from "#src/graph/errors.ts";
import { facebookLoginRoutes } from "#src/graph/login.ts";
import { revokeGrant } from "#src/graph/revoke-grant.ts";
import { ruploadRoute } from "#src/graph/rupload.ts";
import { refuseSeveralNodes } from "#src/graph/several-nodes.ts";
import { statusReply } from "#src/graph/usage.ts";
import type { IssuedAccount, Platform } from "#src/platform.ts";
import { inventName } from "#src/world/names.ts";
import type { World } from "#src/world/world.ts";

const USERNAME = /^[A-Za-z0-9._-]{1,50}$/;
const MAX_BODY_BYTES = 1_100_000_000;

const REFUSAL = graphError({
  code: 368,
  message: "The action attempted has been deemed abusive or is otherwise disallowed",
  userMessage: "You can't use this feature right now.",
});
const TOKEN_REFUSAL = graphError(
  { code: 190, subcode: 460, message: "The password was changed." },
  401,
);

function usernameFault(username: string): string | undefined {
  return USERNAME.test(username)
    ? undefined
    : "use 1 to 50 letters, digits, dots, underscores and hyphens";
}

function issueAccount(
  network: FacebookNetwork,
  username: string | undefined,
  scopes = SCOPES,
): IssuedAccount {
  const { accounts, clock, snowflakes } = network.world;
  const now = clock.now();
  const invented = inventName(
    ({ words, number }) =>
      accounts.byUsername("facebook", `${words.join(".")}${number}`) !== undefined,
  );
  const name = username ?? `${invented.words.join(".")}${invented.number}`;
  const account =
    accounts.byUsername("facebook", name) ??
    accounts.add({
      platform: "facebook",
      externalId: snowflakes.next(now),
      username: name,
      displayName: invented.displayName,
    });
  const accessToken = network.tokens.issue({
    kind: "page",
    account: account.externalId,
    user: snowflakes.next(now),
    scopes,
    issuedAt: now,
    expiresAt: null,
  });
  return { account, credentials: { accessToken } };
}

/** Stands for the host graph-video.facebook.com, which receives videos. */
const VIDEO_HOST: GraphFlavour = { prefix: "/graph-video", isInstagramLogin: false };

function scopesOfApp({ settings }: World): readonly string[] {
  return settings.values.facebookApp === "publishing" ? PUBLISHING_SCOPES : SCOPES;
}

/** Paths below `/rupload` stand for the upload host. */
export function createFacebook(world: World): Platform {
  const network = createNetwork(world);
  const endpoints = [
    createFeedPost(network),
    createPhoto(network),
    createVideo(network),
    createReel(network),
    listPublishedPosts(network),
    listComments(network),
    replyToComment(network),
    sendPrivateReply(network),
    revokeGrant(network),
    readNode(network),
    refuseSeveralNodes(COUNTERS),
    updateNode(network),
    deleteNode(network),
  ];
  return {
    id: "facebook",
    routes: [
      ...endpoints.map((endpoint) => toGraphRoute(network, endpoint)),
      toGraphRoute(network, createVideo(network), VIDEO_HOST),
      ruploadRoute(network, network.uploads, REEL_EDGE),
      ...facebookLoginRoutes({
        host: network,
        listScopes: () => scopesOfApp(world),
        usernameFault,
        ensureAccount: (username) => issueAccount(network, username).account,
        pageView: ({ externalId, displayName, username }, accessToken) => ({
          id: externalId,
          name: displayName,
          username,
          access_token: accessToken,
          tasks: ["CREATE_CONTENT", "MODERATE", "MESSAGING", "ANALYZE"],
        }),
      }),
    ],
    maxBodyBytes: MAX_BODY_BYTES,
    usernameFault,
    issueAccount: (username, scopes) => issueAccount(network, username, scopes),
    accountOf: (call) => accountOf(network, call),
    loggedPath: (path) => path,
    errorReply: (status, call) => statusReply(network, accountOf(network, call), status),
    refusal: (operation) => (operation === "refresh" ? TOKEN_REFUSAL : REFUSAL),
    notFound: () => graphError({ code: 2500, message: "Unknown path components" }),
    newCommentId: (now, postId) => newCommentId(network, now, postId),
    commentsOf: (account) => shownComments(network, account),
    privateRepliesOf: ({ externalId }) => network.privateReplies.sentBy(externalId),
  };
}
