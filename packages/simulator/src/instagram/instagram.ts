import {
  nodeOperations,
  readOperations,
  REVOKE_GRANT,
  severalNodes,
  shownComments,
} from "#src/graph/common-endpoints.ts";
import { accountOf, type GraphEndpoint, graphRoutes, statusReply } from "#src/graph/endpoint.ts";
import { graphError } from "#src/graph/errors.ts";
import { facebookLoginRoutes } from "#src/graph/login.ts";
import { ruploadRoute } from "#src/graph/rupload.ts";
import type { Call, Reply } from "#src/http/call.ts";
import {
  hideComment,
  listComments,
  readReplies,
  replyToComment,
  sendPrivateReply,
} from "#src/instagram/comments.ts";
import { createContainer, UPLOAD_EDGE } from "#src/instagram/create-container.ts";
import {
  INSTAGRAM_LOGIN,
  instagramLoginRoutes,
  issueAccount,
  SCOPES,
  toPageView,
} from "#src/instagram/login.ts";
import { createNetwork, type InstagramNetwork } from "#src/instagram/network.ts";
import { COUNTERS, deleteNode, listOwnMedia, readNode } from "#src/instagram/node.ts";
import { contentPublishingLimit, publishContainer } from "#src/instagram/publish.ts";
import { on, type Operations, type Platform, usernameCheck } from "#src/platform.ts";
import type { World } from "#src/world/world.ts";

const PUBLISHING = { scope: "instagram_content_publish" };
const CREATING = { ...PUBLISHING, fetches: ["image_url", "video_url"] };
const READING = { scope: "instagram_basic" };
const COMMENTING = { scope: "instagram_manage_comments" };

function listOperations({ query }: Call): Operations {
  return readOperations(query, COUNTERS);
}

const ENDPOINTS: readonly GraphEndpoint<InstagramNetwork>[] = [
  on("POST /:id/media", ["create"], createContainer, CREATING),
  on("POST /:id/media_publish", ["publish"], publishContainer, PUBLISHING),
  on("GET /:id/media", listOperations, listOwnMedia, READING),
  on("GET /:id/content_publishing_limit", ["account"], contentPublishingLimit, PUBLISHING),
  on("GET /:id/comments", ["comments"], listComments, COMMENTING),
  on("GET /:id/replies", ["comments"], readReplies, COMMENTING),
  on("POST /:id/replies", ["reply"], replyToComment, COMMENTING),
  on("POST /:id/messages", ["reply"], sendPrivateReply, { scope: "instagram_manage_messages" }),
  on("GET /:id", nodeOperations(COUNTERS), readNode, READING),
  severalNodes(COUNTERS),
  on("POST /:id", ["hide"], hideComment, COMMENTING),
];

/** Endpoints that exist only on the host for Facebook Login. */
const FACEBOOK_LOGIN_ENDPOINTS: readonly GraphEndpoint<InstagramNetwork>[] = [
  REVOKE_GRANT,
  on("DELETE /:id", ["delete"], deleteNode, { scope: "instagram_manage_contents" }),
];

const MAX_BODY_BYTES = 310_000_000;

const BLOCKED = graphError({
  code: 368,
  message: "The action attempted has been deemed abusive or is otherwise disallowed",
  userMessage: "You can't use this feature right now.",
});

function refusal(operation: string): Reply {
  switch (operation) {
    case "create":
      return graphError({
        code: 36_001,
        subcode: 2_207_005,
        message: "The image format is not supported",
      });
    case "upload":
      return {
        status: 400,
        body: {
          debug_info: {
            retriable: false,
            type: "ProcessingFailedError",
            message: "Request processing failed",
          },
        },
      };
    default:
      return BLOCKED;
  }
}

/**
 * Paths below `/login` stand for Instagram Login, which cannot delete posts; those below `/rupload`
 * for the upload host.
 */
export function createInstagram(world: World): Platform {
  const network = createNetwork(world);
  const accounts = {
    id: "instagram",
    usernameFault: usernameCheck(
      /^[a-z0-9._]{1,30}$/,
      "use 1 to 30 lower-case letters, digits, dots and underscores",
    ),
    issueAccount: (username: string | undefined, permissions?: readonly string[]) =>
      issueAccount(network, username, permissions),
  };
  return {
    ...accounts,
    routes: [
      ...graphRoutes(network, [...ENDPOINTS, ...FACEBOOK_LOGIN_ENDPOINTS]),
      ...graphRoutes(network, ENDPOINTS, INSTAGRAM_LOGIN),
      ...instagramLoginRoutes(network, accounts),
      ruploadRoute(network, UPLOAD_EDGE),
      ...facebookLoginRoutes({
        host: network,
        accounts,
        listScopes: () => SCOPES,
        pageView: (account, accessToken) => toPageView(network, account, accessToken),
      }),
    ],
    maxBodyBytes: MAX_BODY_BYTES,
    accountOf: (call) => accountOf(network, call),
    errorReply: (status, call) => statusReply(network, accountOf(network, call), status),
    refusal,
    notFound: () => graphError({ code: 2500, message: "Unknown path components" }),
    newCommentId: (now) => world.snowflakes.next(now),
    commentsOf: (account) => shownComments(network, account),
    privateRepliesOf: ({ externalId }) => network.privateReplies.sentBy(externalId),
  };
}
