import type {
  FacebookNetwork,
  FacebookPhoto,
  FacebookPost,
  FacebookVideo,
} from "#src/facebook/network.ts";
import { statusView } from "#src/facebook/publishing.ts";
import { timeView } from "#src/graph/common-endpoints.ts";
import type { Account } from "#src/world/accounts.ts";

type View = Readonly<Record<string, unknown>>;

function isReached(instant: number | null, asOf: number): boolean {
  return instant !== null && instant <= asOf;
}

function preview(id: string, link: string): unknown {
  const type = /^https?:\/\/(?:www\.)?youtube\.com\//i.test(link) ? "video_share_youtube" : "share";
  return { data: [{ type, target: { id: `${id}0`, url: link } }] };
}

function attachments({ id, link, photos }: FacebookPost): unknown {
  const targets = photos.map((photo) => ({ type: "photo", target: { id: photo } }));
  const [first] = targets;
  if (first === undefined) return link === "" ? undefined : preview(id, link);
  const album = {
    type: "album",
    target: { id: first.target.id },
    subattachments: { data: targets },
  };
  return { data: [targets.length === 1 ? first : album] };
}

function summary(count: number): unknown {
  return { data: [], summary: { total_count: count } };
}

function counters({ world }: FacebookNetwork, id: string, asOf: number): View {
  const { reactions } = world;
  const { likes = 0, comments = 0, shares } = reactions.metricsAt("facebook", id, asOf);
  const shown = reactions.countComments("facebook", id, asOf);
  return {
    reactions: summary(likes),
    likes: summary(likes),
    comments: summary(Math.max(comments, shown)),
    shares: shares === undefined || shares === 0 ? undefined : { count: shares },
  };
}

export function postView(network: FacebookNetwork, post: FacebookPost, asOf: number): View {
  const [, number] = post.id.split("_");
  return {
    id: post.id,
    message: post.message === "" ? undefined : post.message,
    from: { id: post.page },
    created_time: timeView(post.publishedAt ?? post.createdAt),
    is_published: isReached(post.publishedAt, asOf),
    permalink_url: `https://www.facebook.com/${post.page}/posts/${number}`,
    attachments: attachments(post),
    ...counters(network, post.id, asOf),
  };
}

export function photoView(photo: FacebookPhoto): View {
  return {
    id: photo.id,
    name: photo.caption === "" ? undefined : photo.caption,
    created_time: timeView(photo.createdAt),
    link: `https://www.facebook.com/photo.php?fbid=${photo.id}`,
    page_story_id: photo.post ?? undefined,
  };
}

/** Its permalink is a path without a host. */
export function videoView(network: FacebookNetwork, video: FacebookVideo, asOf: number): View {
  const path = video.kind === "reel" ? `/reel/${video.id}/` : `/${video.page}/videos/${video.id}/`;
  return {
    id: video.id,
    title: video.title === "" ? undefined : video.title,
    description: video.description === "" ? undefined : video.description,
    from: { id: video.page },
    created_time: timeView(video.createdAt),
    published: isReached(video.publishedAt, asOf),
    permalink_url: path,
    status: statusView(network, video, asOf),
    ...counters(network, video.id, asOf),
  };
}

export function videoPostView(network: FacebookNetwork, video: FacebookVideo, asOf: number): View {
  const { description, permalink_url: path, ...view } = videoView(network, video, asOf);
  const attachment = { type: "video_inline", target: { id: video.id } };
  return {
    id: `${video.page}_${video.id}`,
    message: description,
    from: { id: video.page },
    created_time: timeView(video.publishedAt ?? video.createdAt),
    is_published: view["published"],
    permalink_url: `https://www.facebook.com${String(path)}`,
    attachments: { data: [attachment] },
    ...counters(network, video.id, asOf),
  };
}

export function pageView({ externalId, username, displayName }: Account): View {
  return {
    id: externalId,
    name: displayName,
    username,
    link: `https://www.facebook.com/${username}`,
    category: "Community",
    picture: { data: { url: `https://graph.facebook.com/${externalId}/picture` } },
    tasks: ["ADVERTISE", "ANALYZE", "CREATE_CONTENT", "MESSAGING", "MODERATE", "MANAGE"],
  };
}
