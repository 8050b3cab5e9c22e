import {
  nodeOperations,
  readOperations,
  REVOKE_GRANT,
  severalNodes,
  shownComments,
} from "#src/graph/common-endpoints.ts";
import {
  accountOf,
  type GraphCall,
  type GraphEndpoint,
  graphRoutes,
  statusReply,
} from "#src/graph/endpoint.ts";
import { graphError, refuseGraph, refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { facebookLoginRoutes } from "#src/graph/login.ts";
import { pickFields } from "#src/graph/parameters.ts";
import { ruploadRoute } from "#src/graph/rupload.ts";
import type { Call, Reply } from "#src/http/call.ts";
import {
  hideComment,
  listComments,
  readReplies,
  replyToComment,
  sendPrivateReply,
} from "#src/instagram/comments.ts";
import type { Container } from "#src/instagram/containers.ts";
import { createContainer, UPLOAD_EDGE } from "#src/instagram/create-container.ts";
import { refuseDailyLimit, refuseMissingContainer, refuseNotReady } from "#src/instagram/errors.ts";
import {
  INSTAGRAM_LOGIN,
  instagramLoginRoutes,
  issueAccount,
  SCOPES,
  toPageView,
} from "#src/instagram/login.ts";
import { createNetwork, type InstagramNetwork } from "#src/instagram/network.ts";
import { COUNTERS, deleteNode, listOwnMedia, readNode } from "#src/instagram/node.ts";
import { on, type Operations, type Platform, usernameCheck } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { LimitRule } from "#src/world/limits.ts";
import type { World } from "#src/world/world.ts";

const MAX_POSTS_PER_DAY = 50;
const DAY_SECONDS = 86_400;
const NO_LIMIT = 1_000_000;

function publishingLimitOf({ externalId }: Account): LimitRule {
  const key = `instagram:posts:${externalId}`;
  return { key, limit: MAX_POSTS_PER_DAY, windowMs: DAY_SECONDS * 1000 };
}

function contentPublishingLimit(
  { world }: InstagramNetwork,
  { account, now, parameters, id }: GraphCall,
): Reply {
  if (id !== account.externalId) return refuseObject(id);
  parameters.checkNames(["since"]);
  const { limit, remaining } = world.limits.read(publishingLimitOf(account), now);
  const total = world.settings.values.quotas ? limit : NO_LIMIT;
  const object = {
    quota_usage: limit - remaining,
    config: { quota_total: total, quota_duration: DAY_SECONDS },
  };
  const { id: _id, ...fields } = pickFields(parameters, object, ["quota_usage"]);
  return { status: 200, body: { data: [fields] } };
}

function publishable({ containers }: InstagramNetwork, graphCall: GraphCall): Container {
  const { parameters, account, now } = graphCall;
  const id = parameters.required("creation_id");
  const container = containers.find(account.externalId, id, now);
  if (container === undefined) return refuseMissingContainer();
  if (container.isChild) return refuseParameter("A carousel item cannot be published alone");
  const status = containers.statusOf(container, now);
  switch (status.code) {
    case "FINISHED":
      return container;
    case "EXPIRED":
      return refuseMissingContainer();
    case "ERROR":
      return refuseGraph({ code: -1, subcode: 2_207_032, message: "Create media failed" });
    // It is not known how the real Instagram answers for a container that is already published.
    case "PUBLISHED":
    case "IN_PROGRESS":
      return refuseNotReady();
  }
}

function publishContainer(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { world, containers, details } = network;
  const { account, now, parameters, id: path } = graphCall;
  if (path !== account.externalId) return refuseObject(path);
  parameters.checkNames(["creation_id"]);
  const container = publishable(network, graphCall);
  const { shareToFeed } = container;
  if (!world.limits.take(publishingLimitOf(account), now)) refuseDailyLimit();
  const id = world.snowflakes.next(now);
  world.posts.add({
    platform: "instagram",
    account: account.externalId,
    id,
    text: container.caption,
    media: containers.mediaOf(container),
    createdAt: now,
    options: shareToFeed === undefined ? undefined : { share_to_feed: shareToFeed },
  });
  details.add(id, container.kind);
  containers.put({ ...container, publishedAt: now });
  return { status: 200, body: { id } };
}

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
