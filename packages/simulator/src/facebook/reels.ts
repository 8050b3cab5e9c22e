import { checkMayPublishVideos, checkMessage, checkPage } from "#src/facebook/feed.ts";
import type { FacebookNetwork, FacebookVideo } from "#src/facebook/network.ts";
import { publishVideo } from "#src/facebook/publishing.ts";
import { FRAME_RATE, isTooSlowOrFast, processedAt, progressOf } from "#src/facebook/video-state.ts";
import { beginVideo } from "#src/facebook/videos.ts";
import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { parametersOf } from "#src/graph/parameters.ts";
import { ruploadUrl } from "#src/graph/rupload.ts";
import type { Reply } from "#src/http/call.ts";

const PHASES = ["start", "finish"] as const;
const STATES = ["PUBLISHED", "DRAFT"] as const;
const REELS_PER_DAY = 30;
const DAY_MS = 86_400_000;

export const REEL_EDGE = "video-upload";

function start(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, call, version } = graphCall;
  parameters.checkNames(["upload_phase"]);
  const { id } = beginVideo(network, graphCall, { kind: "reel" });
  const uploadUrl = ruploadUrl(call, REEL_EDGE, version, id);
  return { status: 200, body: { video_id: id, upload_url: uploadUrl } };
}

function ownReel(network: FacebookNetwork, { parameters, account }: GraphCall): FacebookVideo {
  const id = parameters.required("video_id");
  const video = network.videos.get(id);
  const isOwn = video?.page === account.externalId && video.kind === "reel";
  return video === undefined || !isOwn || video.deletedAt !== null ? refuseObject(id) : video;
}

function spendReel(network: FacebookNetwork, { account, now }: GraphCall): void {
  const key = `facebook:reels:${account.externalId}`;
  const rule = { key, limit: REELS_PER_DAY, windowMs: DAY_MS };
  if (!network.world.limits.spend([rule], now).allowed)
    refuseGraph({ code: 613, message: "Calls to this api have exceeded the rate limit." });
}

function finish(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, account, now } = graphCall;
  parameters.checkNames(["upload_phase", "video_id", "video_state", "title", "description"]);
  const video = ownReel(network, graphCall);
  const state = parameters.oneOf("video_state", STATES);
  switch (progressOf(network, video, now)) {
    case "uploading":
      return refuseGraph({ code: 6000, subcode: 1_363_026, message: "The upload is not complete" });
    case "failed":
      return isTooSlowOrFast(network, video)
        ? refuseParameter(FRAME_RATE, 1_363_129)
        : refuseParameter("The resolution of the reel is not supported.", 1_363_127);
    case "processing":
    case "ready":
  }
  if (video.publishedAt === null && state === "PUBLISHED") spendReel(network, graphCall);

  const title = parameters.text("title");
  const description = checkMessage("description", parameters.text("description"));
  const finished = { ...video, title, description, finishedAt: video.finishedAt ?? now };
  network.videos.put(video.id, finished);
  if (state === "PUBLISHED")
    publishVideo(network, account, finished, processedAt(network, finished, now));

  return { status: 200, body: { success: true } };
}

export function createReel(network: FacebookNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/video_reels",
    operations: (call) =>
      parametersOf(call).text("upload_phase") === "finish" ? ["publish"] : ["create"],
    scope: "pages_manage_posts",
    handle: (graphCall) => {
      checkPage(graphCall);
      checkMayPublishVideos(network);
      return graphCall.parameters.oneOf("upload_phase", PHASES) === "start"
        ? start(network, graphCall)
        : finish(network, graphCall);
    },
  };
}
