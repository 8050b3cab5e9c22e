import {
  commentView,
  findPublicComment,
  findPublicPost,
  hideComment,
} from "#src/facebook/comments.ts";
import type { FacebookNetwork, FacebookPost, FacebookVideo } from "#src/facebook/network.ts";
import { processedAt, progressOf, publishPost, publishVideo } from "#src/facebook/publishing.ts";
import { pageView, photoView, postView, videoView } from "#src/facebook/views.ts";
import { insightsField } from "#src/graph/common-endpoints.ts";
import type { GraphCall } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { type Expansion, pickFields } from "#src/graph/parameters.ts";
import type { Call, Reply } from "#src/http/call.ts";
import type { Operations } from "#src/platform.ts";
import { existsAt } from "#src/world/posts.ts";
import type { MetricValues } from "#src/world/reactions.ts";

/**
 * The metrics that Facebook supports since 2026-06-15. One unknown metric name fails the whole
 * request.
 */
const METRICS: Readonly<Record<string, (values: MetricValues) => unknown>> = {
  post_media_view: ({ views = 0 }) => views,
  post_total_media_view_unique: ({ reach = 0 }) => reach,
  post_clicks: () => 0,
  post_clicks_by_type: () => ({}),
  post_reactions_by_type_total: ({ likes = 0 }) => ({ like: likes }),
  post_video_views: ({ views = 0 }) => views,
  post_activity_by_action_type: ({ likes = 0, comments = 0, shares = 0 }) => ({
    like: likes,
    comment: comments,
    share: shares,
  }),
};

const INSIGHTS = { scope: "read_insights", metrics: METRICS };

/** Returns insights of the Page's own posts only. */
function insightsOf(network: FacebookNetwork, graphCall: GraphCall, postId: string): Expansion {
  const field = insightsField(network, graphCall, postId, INSIGHTS);
  return (asked) =>
    network.world.posts.get(graphCall.account, postId) === undefined
      ? refuseObject(postId)
      : field(asked);
}

/** Callers request this field of a post only to read metrics. */
export const COUNTERS = "reactions";

type View = Readonly<Record<string, unknown>>;

const SUCCESS: Reply = { status: 200, body: { success: true } };

function findPost(
  network: FacebookNetwork,
  { id, account }: GraphCall,
  asOf: number,
): FacebookPost | undefined {
  const post = network.posts.get(id);
  return post?.page === account.externalId && existsAt(post, asOf) ? post : undefined;
}

/** The id can also have the form `<page>_<video>`. */
function findVideo(
  network: FacebookNetwork,
  { id, account }: GraphCall,
  asOf: number,
): FacebookVideo | undefined {
  const video = network.videos.get(id.replace(`${account.externalId}_`, ""));
  return video?.page === account.externalId && existsAt(video, asOf) ? video : undefined;
}

function publicPost(network: FacebookNetwork, id: string): FacebookPost | undefined {
  return findPublicPost(network, id) === undefined ? undefined : network.posts.get(id);
}

function publicVideo(network: FacebookNetwork, id: string): FacebookVideo | undefined {
  const post = findPublicPost(network, id);
  return post === undefined ? undefined : network.videos.get(post.id);
}

function findMediaView(network: FacebookNetwork, graphCall: GraphCall): View | undefined {
  const { id, account, asOf } = graphCall;
  const post = findPost(network, graphCall, asOf) ?? publicPost(network, id);
  if (post !== undefined) {
    const insights = insightsOf(network, graphCall, post.id);
    return { ...postView(network, post, asOf), insights };
  }
  const video = findVideo(network, graphCall, asOf) ?? publicVideo(network, id);
  if (video !== undefined) {
    const insights = insightsOf(network, graphCall, video.id);
    return { ...videoView(network, video, asOf), insights };
  }
  const photo = network.photos.get(id);
  return photo?.page === account.externalId && existsAt(photo, asOf) ? photoView(photo) : undefined;
}

function findView(network: FacebookNetwork, graphCall: GraphCall): View | undefined {
  const { id, account, asOf } = graphCall;
  if (id === "me" || id === account.externalId) return pageView(account);
  const comment = findPublicComment(network, id);
  return comment === undefined || comment.createdAt > asOf
    ? findMediaView(network, graphCall)
    : commentView(network, comment, graphCall);
}

function viewOf(network: FacebookNetwork, graphCall: GraphCall): View {
  return findView(network, graphCall) ?? refuseObject(graphCall.id);
}

export function readNode(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters } = graphCall;
  parameters.checkNames([]);
  const view = viewOf(network, graphCall);
  const body = pickFields(
    parameters,
    view,
    ["name", "created_time", "message", "description"].filter((name) => name in view),
  );
  return { status: 200, body };
}

/** A repeated call is allowed; one that would unpublish the post is refused. */
function updatePost(network: FacebookNetwork, graphCall: GraphCall, post: FacebookPost): Reply {
  const { parameters, account, now } = graphCall;
  parameters.checkNames(["is_published"]);
  if (!parameters.flag("is_published", false)) refuseParameter("A post cannot be unpublished.");
  publishPost(network, account, post, now);
  return SUCCESS;
}

function updateVideo(network: FacebookNetwork, graphCall: GraphCall, video: FacebookVideo): Reply {
  const { parameters, account, now } = graphCall;
  parameters.checkNames(["published", "title", "name", "description"]);
  if (!parameters.flag("published", false)) refuseParameter("A video cannot be unpublished.");
  if (video.kind === "reel" || video.finishedAt === null)
    refuseGraph({
      code: 100,
      subcode: 1_363_026,
      message: "The upload of the video is not finished.",
    });
  if (progressOf(network, video, now) === "failed")
    refuseGraph({
      code: 352,
      message: "The video file you selected is in a format we don't support.",
    });
  publishVideo(network, account, video, processedAt(network, video, now));
  return SUCCESS;
}

export function updateNode(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { id, now } = graphCall;
  const post = findPost(network, graphCall, now);
  if (post !== undefined) return updatePost(network, graphCall, post);
  const video = findVideo(network, graphCall, now);
  return video === undefined
    ? (hideComment(network, graphCall) ?? refuseObject(id))
    : updateVideo(network, graphCall, video);
}

export function updateOperations({ params }: Call, { world }: FacebookNetwork): Operations {
  const comment = world.reactions.comment("facebook", params["id"] ?? "");
  return comment === undefined ? ["publish"] : ["hide"];
}

function hideFromReaders(network: FacebookNetwork, { account, now }: GraphCall, id: string): void {
  const shown = network.world.posts.get(account, id);
  if (shown !== undefined && shown.deletedAt === null)
    network.world.posts.change(shown, { deletedAt: now });
}

export function deleteNode(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { id, now, account, parameters } = graphCall;
  parameters.checkNames([]);
  const post = findPost(network, graphCall, now);
  if (post !== undefined) {
    network.posts.put(post.id, { ...post, deletedAt: now });
    hideFromReaders(network, graphCall, post.id);
    return SUCCESS;
  }
  const video = findVideo(network, graphCall, now);
  if (video !== undefined) {
    network.videos.put(video.id, { ...video, deletedAt: now });
    hideFromReaders(network, graphCall, video.id);
    return SUCCESS;
  }
  const photo = network.photos.get(id);
  if (photo?.page !== account.externalId || photo.deletedAt !== null) return refuseObject(id);
  network.photos.put(id, { ...photo, deletedAt: now });
  return SUCCESS;
}
