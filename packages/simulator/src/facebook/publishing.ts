import type { FacebookNetwork, FacebookPost, FacebookVideo } from "#src/facebook/network.ts";
import { refuseGraph } from "#src/graph/errors.ts";
import { receivedBytes } from "#src/graph/host.ts";
import type { Account } from "#src/world/accounts.ts";
import { frameRateFault } from "#src/world/mp4.ts";
import { toPosted } from "#src/world/received-media.ts";

/**
 * Processing time of a Facebook video, long enough that a client that polls at once sees the video
 * in progress.
 */
const PROCESSING_MS = 1_200;
/**
 * A Facebook reel becomes visible this many milliseconds before its status says that it is
 * published.
 */
const REEL_STATUS_LAG_MS = 400;

/** `uploading` = bytes are missing, `failed` = the bytes are not a video. */
type Progress = "uploading" | "processing" | "failed" | "ready";

export function progressOf(network: FacebookNetwork, video: FacebookVideo, asOf: number): Progress {
  const upload = network.uploads.find(video.id);
  const { completedAt = null, received = null } = upload ?? {};
  if (completedAt === null || completedAt > asOf) return "uploading";
  if (asOf < completedAt + PROCESSING_MS) return "processing";
  return received?.kind === "video" && !isTooSlowOrFast(network, video) ? "ready" : "failed";
}

export const FRAME_RATE = "The frame rate of the reel must be 24 to 60 frames per second.";

/** 24 to 60 frames per second (Reels publishing guide, v25.0). */
export function isTooSlowOrFast(network: FacebookNetwork, { id, kind }: FacebookVideo): boolean {
  const received = network.uploads.find(id)?.received ?? null;
  if (kind !== "reel" || received === null) return false;
  return frameRateFault(received, { minFps: 24, maxFps: 60 }) !== undefined;
}

export function processedAt(network: FacebookNetwork, video: FacebookVideo, now: number): number {
  return Math.max(now, (network.uploads.find(video.id)?.completedAt ?? now) + PROCESSING_MS);
}

const PROCESSING_PHASE: Readonly<Record<Progress, unknown>> = {
  uploading: { status: "not_started" },
  processing: { status: "in_progress" },
  ready: { status: "complete" },
  failed: {
    status: "error",
    errors: [{ code: 1_363_128, message: "The video could not be read." }],
  },
};

const VIDEO_STATUS: Readonly<Record<Progress, string>> = {
  uploading: "uploading",
  processing: "processing",
  ready: "ready",
  failed: "error",
};

function publishingPhase({ publishedAt, kind }: FacebookVideo, asOf: number): unknown {
  const lagMs = kind === "reel" ? REEL_STATUS_LAG_MS : 0;
  return publishedAt === null || asOf < publishedAt + lagMs
    ? { status: "not_started" }
    : {
        status: "complete",
        publish_status: "published",
        publish_time: Math.floor(publishedAt / 1000),
      };
}

/** `bytes_transfered` is misspelt as in Facebook's API. */
export function statusView(
  network: FacebookNetwork,
  video: FacebookVideo,
  asOf: number,
): Readonly<Record<string, unknown>> {
  const progress = progressOf(network, video, asOf);
  const upload = network.uploads.find(video.id);
  return {
    video_status: VIDEO_STATUS[progress],
    uploading_phase: {
      status: progress === "uploading" ? "in_progress" : "complete",
      bytes_transfered: upload === undefined ? 0 : receivedBytes(upload),
    },
    processing_phase:
      progress === "failed" && isTooSlowOrFast(network, video)
        ? { status: "error", errors: [{ code: 1_363_129, message: FRAME_RATE }] }
        : PROCESSING_PHASE[progress],
    publishing_phase: publishingPhase(video, asOf),
  };
}

/** A post with photos is never a duplicate. */
export function refuseDuplicate(
  network: FacebookNetwork,
  account: Account,
  { message, link, photos }: Pick<FacebookPost, "message" | "link" | "photos">,
  now: number,
): void {
  if (network.world.settings.values.repeatedPosts === "accepted") return;
  const [newest] = network.world.posts
    .newestFirst(account)
    .filter(({ createdAt, deletedAt }) => createdAt <= now && deletedAt === null);
  const previous = newest === undefined ? undefined : network.posts.get(newest.id);
  const isSame = previous?.message === message && previous.link === link;
  if (isSame && photos.length === 0 && previous.photos.length === 0)
    refuseGraph({
      code: 506,
      message: "Duplicate status message",
      userMessage: "This status update is identical to the last one you posted.",
    });
}

/** A repeated call only increases the post's number of publishing calls. */
export function publishPost(
  network: FacebookNetwork,
  account: Account,
  post: FacebookPost,
  now: number,
): FacebookPost {
  const { posts } = network.world;
  const shown = posts.get(account, post.id);
  if (shown !== undefined) {
    posts.countCall(shown);
    return post;
  }
  refuseDuplicate(network, account, post, now);
  const media = post.photos.flatMap((id) => {
    const photo = network.photos.get(id);
    if (photo === undefined) return [];
    const { altText, received } = photo;
    return [{ ...toPosted(received), altText: altText === "" ? undefined : altText }];
  });
  posts.add({
    platform: "facebook",
    account: account.externalId,
    id: post.id,
    text: post.message,
    media,
    createdAt: now,
  });
  const published = { ...post, publishedAt: now };
  network.posts.put(post.id, published);
  return published;
}

/** An upright video that is not a reel becomes the draft of a reel, which readers never see. */
function becomesDraft({ uploads }: FacebookNetwork, { id, kind }: FacebookVideo): boolean {
  const { width = 0, height = 0 } = uploads.find(id)?.received ?? {};
  return kind === "video" && height > width;
}

/** A repeated call only increases the post's number of publishing calls. */
export function publishVideo(
  network: FacebookNetwork,
  account: Account,
  video: FacebookVideo,
  visibleFrom: number,
): void {
  const { posts } = network.world;
  const shown = posts.get(account, video.id);
  if (shown !== undefined) {
    posts.countCall(shown);
    return;
  }
  if (becomesDraft(network, video)) return;
  const received = network.uploads.find(video.id)?.received;
  posts.add({
    platform: "facebook",
    account: account.externalId,
    id: video.id,
    text: video.description,
    media: received === null || received === undefined ? [] : [toPosted(received)],
    createdAt: visibleFrom,
  });
  network.videos.put(video.id, { ...video, publishedAt: visibleFrom });
}
