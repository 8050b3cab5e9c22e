import { accountOf, toGraphRoute } from "#src/graph/endpoint.ts";
import { graphError } from "#src/graph/errors.ts";
import { facebookLoginRoutes } from "#src/graph/login.ts";
import { revokeGrant } from "#src/graph/revoke-grant.ts";
import { ruploadRoute } from "#src/graph/rupload.ts";
import { refuseSeveralNodes } from "#src/graph/several-nodes.ts";
import { statusReply } from "#src/graph/usage.ts";
import type { Reply } from "#src/http/call.ts";
import { shownComments } from "#src/instagram/comment-view.ts";
import { listComments, readReplies, replyToComment } from "#src/instagram/comments.ts";
import { UPLOAD_EDGE, createContainer } from "#src/instagram/create-container.ts";
import { INSTAGRAM_LOGIN, instagramLoginRoutes } from "#src/instagram/instagram-login.ts";
import { SCOPES, issueAccount, toPageView } from "#src/instagram/login.ts";
import { createNetwork } from "#src/instagram/network.ts";
import { COUNTERS, deleteNode, readNode, updateNode } from "#src/instagram/node.ts";
import { listOwnMedia } from "#src/instagram/own-media.ts";
import { sendPrivateReply } from "#src/instagram/private-reply.ts";
import { publishContainer } from "#src/instagram/publish.ts";
import { contentPublishingLimit } from "#src/instagram/publishing-limit.ts";
import type { Platform } from "#src/platform.ts";
import type { World } from "#src/world/world.ts";

const USERNAME = /^[a-z0-9._]{1,30}$/;
const MAX_BODY_BYTES = 310_000_000;

const BLOCKED = graphError({
  code: 368,
  message: "The action attempted has been deemed abusive or is otherwise disallowed",
  userMessage: "You can't use this feature right now.",
});

function usernameFault(username: string): string | undefined {
  return USERNAME.test(username)
    ? undefined
    : "use 1 to 30 lower-case letters, digits, dots and underscores";
}

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
  const accountRules = {
    usernameFault,
    ensureAccount: (username: string | undefined) => issueAccount(network, username).account,
  };
  const common = [
    createContainer(network),
    publishContainer(network),
    listOwnMedia(network),
    contentPublishingLimit(network),
    listComments(network),
    readReplies(network),
    replyToComment(network),
    sendPrivateReply(network),
    readNode(network),
    refuseSeveralNodes(COUNTERS),
    updateNode(network),
  ];
  const endpoints = [...common, revokeGrant(network), deleteNode(network)];
  return {
    id: "instagram",
    routes: [
      ...endpoints.map((endpoint) => toGraphRoute(network, endpoint)),
      ...common.map((endpoint) => toGraphRoute(network, endpoint, INSTAGRAM_LOGIN)),
      ...instagramLoginRoutes(network, accountRules),
      ruploadRoute(network, network.uploads, UPLOAD_EDGE),
      ...facebookLoginRoutes({
        host: network,
        listScopes: () => SCOPES,
        ...accountRules,
        pageView: (account, accessToken) => toPageView(network, account, accessToken),
      }),
    ],
    maxBodyBytes: MAX_BODY_BYTES,
    usernameFault,
    issueAccount: (username, permissions) => issueAccount(network, username, permissions),
    accountOf: (call) => accountOf(network, call),
    loggedPath: (path) => path,
    errorReply: (status, call) => statusReply(network, accountOf(network, call), status),
    refusal,
    notFound: () => graphError({ code: 2500, message: "Unknown path components" }),
    newCommentId: (now) => world.snowflakes.next(now),
    commentsOf: (account) => shownComments(network, account),
    privateRepliesOf: ({ externalId }) => network.privateReplies.sentBy(externalId),
  };
}
