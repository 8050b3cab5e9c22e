import { insightsField, timeView } from "#src/graph/common-endpoints.ts";
import type { GraphCall } from "#src/graph/endpoint.ts";
import type { Expansion } from "#src/graph/parameters.ts";
import type { Container, Containers } from "#src/instagram/containers.ts";
import { type InstagramNetwork, permalinkOf, type PostDetail } from "#src/instagram/network.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Post } from "#src/world/posts.ts";
import type { MetricValues } from "#src/world/reactions.ts";

type Metrics = Readonly<Record<string, (values: MetricValues) => number>>;

const COMMON_METRICS: Metrics = {
  views: ({ views, impressions }) => views ?? impressions ?? 0,
  reach: ({ reach = 0 }) => reach,
  likes: ({ likes = 0 }) => likes,
  comments: ({ comments = 0 }) => comments,
  shares: ({ shares = 0 }) => shares,
  saved: ({ saves = 0 }) => saves,
  total_interactions: ({ likes = 0, comments = 0, shares = 0, saves = 0 }) =>
    likes + comments + shares + saves,
};
const notSimulated = () => 0;

/** One unsupported metric name fails the whole request. */
const METRICS: Readonly<Record<PostDetail["productType"], Metrics>> = {
  FEED: {
    ...COMMON_METRICS,
    profile_visits: notSimulated,
    follows: notSimulated,
    reposts: notSimulated,
  },
  REELS: {
    ...COMMON_METRICS,
    ig_reels_avg_watch_time: notSimulated,
    ig_reels_video_view_total_time: notSimulated,
    reels_skip_rate: notSimulated,
  },
};

function insightsOf(
  network: InstagramNetwork,
  graphCall: GraphCall,
  id: string,
  productType: PostDetail["productType"],
): Expansion {
  const insights = { scope: "instagram_manage_insights", metrics: METRICS[productType] };
  return insightsField(network, graphCall, id, insights);
}

export type View = Readonly<Record<string, unknown>>;

function mediaView(
  { world }: InstagramNetwork,
  post: Post,
  detail: PostDetail,
  { externalId, username }: Account,
  asOf: number,
): View {
  const { reactions } = world;
  const { likes = 0, comments = 0 } = reactions.metricsAt("instagram", post.id, asOf);
  const shown = reactions.countComments("instagram", post.id, asOf);
  return {
    id: post.id,
    caption: post.text === "" ? undefined : post.text,
    media_type: detail.mediaType,
    media_product_type: detail.productType,
    permalink: permalinkOf(detail),
    shortcode: detail.shortcode,
    timestamp: timeView(post.createdAt),
    username,
    owner: { id: externalId },
    like_count: likes,
    comments_count: Math.max(comments, shown),
    is_comment_enabled: true,
  };
}

/** A post as the API returns it, with its insights. */
export function postView(
  network: InstagramNetwork,
  graphCall: GraphCall,
  post: Post,
  detail: PostDetail,
): View {
  const { account, asOf } = graphCall;
  const insights = insightsOf(network, graphCall, post.id, detail.productType);
  return { ...mediaView(network, post, detail, account, asOf), insights };
}

export function containerView(containers: Containers, container: Container, asOf: number): View {
  const status = containers.statusOf(container, asOf);
  const statusText =
    status.code === "ERROR"
      ? `Error: ${status.error.message} (${status.error.subcode})`
      : status.code;
  return { id: container.id, status_code: status.code, status: statusText };
}

export function accountView({ externalId, username, displayName }: Account): View {
  return {
    id: externalId,
    username,
    name: displayName,
    profile_picture_url: `https://www.instagram.com/${username}/picture.jpg`,
    followers_count: 0,
    media_count: 0,
  };
}
