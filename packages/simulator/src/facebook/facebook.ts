import {
  listComments,
  newCommentId,
  replyToComment,
  sendPrivateReply,
} from "#src/facebook/comments.ts";
import {
  checkPage,
  createFeedPost,
  createPhoto,
  feedOperations,
  photoOperations,
} from "#src/facebook/feed.ts";
import { createNetwork, type FacebookNetwork } from "#src/facebook/network.ts";
import {
  COUNTERS,
  deleteNode,
  readNode,
  updateNode,
  updateOperations,
} from "#src/facebook/node.ts";
import {
  createReel,
  createVideo,
  REEL_EDGE,
  reelOperations,
  videoOperations,
} from "#src/facebook/videos.ts";
import { postView, videoPostView } from "#src/facebook/views.ts";
import {
  nodeOperations,
  REVOKE_GRANT,
  severalNodes,
  shownComments,
} from "#src/graph/common-endpoints.ts";
import {
  accountOf,
  type GraphCall,
  type GraphEndpoint,
  type GraphFlavour,
  graphRoutes,
  statusReply,
} from "#src/graph/endpoint.ts";
import { graphError } from "#src/graph/errors.ts";
import { facebookLoginRoutes } from "#src/graph/login.ts";
import { pageOf, PAGING } from "#src/graph/paging.ts";
import { type GraphParameters, pickFields } from "#src/graph/parameters.ts";
import { ruploadRoute } from "#src/graph/rupload.ts";
import type { Reply } from "#src/http/call.ts";
import { type IssuedAccount, on, type Platform, usernameCheck } from "#src/platform.ts";
import { existsAt, type Post } from "#src/world/posts.ts";
import type { World } from "#src/world/world.ts";

function secondsOf(parameters: GraphParameters, name: string, otherwise: number): number {
  return parameters.has(name) ? parameters.number(name) * 1000 : otherwise;
}

function* visiblePosts(
  network: FacebookNetwork,
  { account, parameters, asOf }: GraphCall,
): Generator<Post> {
  const since = secondsOf(parameters, "since", 0);
  const until = secondsOf(parameters, "until", Number.MAX_SAFE_INTEGER);
  for (const post of network.world.posts.newestFirst(account))
    if (existsAt(post, asOf) && post.createdAt >= since && post.createdAt < until) yield post;
}

function viewOf(
  network: FacebookNetwork,
  { id }: Post,
  asOf: number,
): Readonly<Record<string, unknown>> {
  const post = network.posts.get(id);
  const video = network.videos.get(id);
  if (post !== undefined) return postView(network, post, asOf);
  return video === undefined ? { id } : videoPostView(network, video, asOf);
}

function listPublishedPosts(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, asOf } = graphCall;
  checkPage(graphCall);
  parameters.checkNames(["since", "until", ...PAGING]);
  const { items, paging } = pageOf(visiblePosts(network, graphCall), graphCall);
  const data = items.map((post) =>
    pickFields(parameters, viewOf(network, post, asOf), ["created_time", "message"]),
  );
  return { status: 200, body: { data, ...paging } };
}

/**
 * Permissions that a new Facebook app may ask for when its developer chose only Meta's use cases
 * for publishing.
 */
export const PUBLISHING_SCOPES: readonly string[] = [
  "business_management",
  "pages_show_list",
  "pages_read_engagement",
  "pages_manage_posts",
];

export const SCOPES: readonly string[] = [
  ...PUBLISHING_SCOPES,
  "pages_manage_engagement",
  "pages_read_user_content",
  "read_insights",
  "pages_messaging",
  "pages_manage_metadata",
];

const POSTING = { scope: "pages_manage_posts" };
const READING = { scope: "pages_read_engagement" };
const ENGAGING = { scope: "pages_manage_engagement" };
// Other people wrote the comments, so reading them needs a permission of its own.
const READING_COMMENTS = { scope: "pages_read_user_content" };

const VIDEO_ENDPOINT: GraphEndpoint<FacebookNetwork> = on(
  "POST /:id/videos",
  videoOperations,
  createVideo,
  { ...POSTING, fetches: ["file_url"] },
);

const ENDPOINTS: readonly GraphEndpoint<FacebookNetwork>[] = [
  on("POST /:id/feed", feedOperations, createFeedPost, POSTING),
  on("POST /:id/photos", photoOperations, createPhoto, { ...POSTING, fetches: ["url"] }),
  VIDEO_ENDPOINT,
  on("POST /:id/video_reels", reelOperations, createReel, POSTING),
  on("GET /:id/published_posts", ["status"], listPublishedPosts, READING),
  // With the id of a comment, the replies to it.
  on("GET /:id/comments", ["comments"], listComments, READING_COMMENTS),
  on("POST /:id/comments", ["reply"], replyToComment, ENGAGING),
  on("POST /:id/messages", ["reply"], sendPrivateReply, { scope: "pages_messaging" }),
  REVOKE_GRANT,
  on("GET /:id", nodeOperations(COUNTERS), readNode, READING),
  severalNodes(COUNTERS),
  on("POST /:id", updateOperations, updateNode, POSTING),
  on("DELETE /:id", ["delete"], deleteNode, POSTING),
];

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

function issueAccount(
  { world, tokens }: FacebookNetwork,
  username: string | undefined,
  scopes = SCOPES,
): IssuedAccount {
  const now = world.clock.now();
  const account = world.accounts.ensure("facebook", username, {
    nameOf: (words, number) => `${words.join(".")}${number}`,
    newId: () => world.snowflakes.next(now),
  });
  const accessToken = tokens.issue({
    kind: "page",
    account: account.externalId,
    user: world.snowflakes.next(now),
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
  const accounts = {
    id: "facebook",
    usernameFault: usernameCheck(
      /^[A-Za-z0-9._-]{1,50}$/,
      "use 1 to 50 letters, digits, dots, underscores and hyphens",
    ),
    issueAccount: (username: string | undefined, scopes?: readonly string[]) =>
      issueAccount(network, username, scopes),
  };
  return {
    ...accounts,
    routes: [
      ...graphRoutes(network, ENDPOINTS),
      ...graphRoutes(network, [VIDEO_ENDPOINT], VIDEO_HOST),
      ruploadRoute(network, REEL_EDGE),
      ...facebookLoginRoutes({
        host: network,
        accounts,
        listScopes: () => scopesOfApp(world),
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
    accountOf: (call) => accountOf(network, call),
    errorReply: (status, call) => statusReply(network, accountOf(network, call), status),
    refusal: (operation) => (operation === "refresh" ? TOKEN_REFUSAL : REFUSAL),
    notFound: () => graphError({ code: 2500, message: "Unknown path components" }),
    newCommentId: (now, postId) => newCommentId(network, now, postId),
    commentsOf: (account) => shownComments(network, account),
    privateRepliesOf: ({ externalId }) => network.privateReplies.sentBy(externalId),
  };
}
