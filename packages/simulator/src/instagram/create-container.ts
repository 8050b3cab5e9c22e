import type { GraphCall } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { ruploadUrl } from "#src/graph/rupload.ts";
import type { Reply } from "#src/http/call.ts";
import {
  altTextOf,
  checkCaption,
  type Container,
  fetchImage,
  fetchVideo,
} from "#src/instagram/containers.ts";
import {
  refuseChildCount,
  refuseMissingContainer,
  refuseNotReady,
  refuseType,
} from "#src/instagram/errors.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";
import { DAY_MS } from "#src/world/limits.ts";

const MAX_CONTAINERS_PER_DAY = 400;
const MIN_CHILDREN = 2;
const MAX_CHILDREN = 10;
export const UPLOAD_EDGE = "ig-api-upload";

const PARAMETERS = [
  "image_url",
  "video_url",
  "media_type",
  "caption",
  "alt_text",
  "is_carousel_item",
  "children",
  "upload_type",
  "share_to_feed",
  "thumb_offset",
];

type ContainerContent = Pick<Container, "kind" | "media" | "error" | "isPushed" | "coverMs">;

function imageOf(graphCall: GraphCall): ContainerContent {
  const altText = altTextOf(graphCall);
  const image = fetchImage(graphCall);
  const media = [altText === "" ? image : { ...image, altText }];
  return { kind: "image", media, error: null, isPushed: false };
}

/** When fetching `video_url` fails, the container's status reports the error. */
function reelOf(graphCall: GraphCall): ContainerContent {
  const { parameters, token } = graphCall;
  const isPushed = parameters.text("upload_type") === "resumable";
  if (parameters.has("alt_text")) refuseParameter("Param alt_text is available only for images");
  const coverMs = parameters.has("thumb_offset") ? parameters.number("thumb_offset") : undefined;
  if (isPushed && token.kind === "instagram")
    refuseParameter("upload_type resumable is available only to apps with Facebook Login");
  if (isPushed === parameters.has("video_url"))
    refuseParameter("The parameter video_url or an upload_type of resumable is required");
  const video = isPushed ? { media: [], error: null } : fetchVideo(graphCall);
  return { kind: "reel", isPushed, coverMs, ...video };
}

function childrenOf({ containers }: InstagramNetwork, graphCall: GraphCall): Container[] {
  const { account, now, parameters } = graphCall;
  const ids = parameters.required("children").split(",");
  if (ids.length < MIN_CHILDREN || ids.length > MAX_CHILDREN) refuseChildCount();
  if (new Set(ids).size < ids.length)
    refuseParameter("Param children names the same container twice");
  return ids.map((id) => {
    const child = containers.find(account.externalId, id, now);
    if (child === undefined) return refuseMissingContainer();
    const { code } = containers.statusOf(child, now);
    if (!child.isChild || code === "ERROR")
      return refuseParameter(`${id} cannot be an item of a carousel`);
    if (code !== "FINISHED")
      return code === "IN_PROGRESS" ? refuseNotReady() : refuseMissingContainer();
    return child;
  });
}

function carouselOf(network: InstagramNetwork, graphCall: GraphCall): ContainerContent {
  const children = childrenOf(network, graphCall);
  const media = children.flatMap((child) => network.containers.mediaOf(child));
  return { kind: "carousel", media, error: null, isPushed: false };
}

/** REELS is a single video, VIDEO a video in a carousel. Images need no `media_type`. */
function contentOf(
  network: InstagramNetwork,
  graphCall: GraphCall,
  isChild: boolean,
): ContainerContent {
  const type = graphCall.parameters.text("media_type");
  switch (type) {
    case "":
    case "IMAGE":
      return imageOf(graphCall);
    case "REELS":
    case "VIDEO":
      if (isChild !== (type === "VIDEO"))
        refuseParameter(`The media_type ${type} cannot be used here`);
      return reelOf(graphCall);
    case "CAROUSEL":
      return isChild ? refuseType() : carouselOf(network, graphCall);
    default:
      return refuseType();
  }
}

function spendContainer({ world }: InstagramNetwork, { account, now }: GraphCall): void {
  const key = `instagram:containers:${account.externalId}`;
  const rule = { key, limit: MAX_CONTAINERS_PER_DAY, windowMs: DAY_MS };
  if (!world.limits.take(rule, now))
    refuseGraph({ code: 80_002, message: "There have been too many containers on this account." });
}

export function createContainer(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { parameters, account, now, call, version, id: path } = graphCall;
  if (path !== account.externalId) return refuseObject(path);
  parameters.checkNames(PARAMETERS);
  const isChild = parameters.flag("is_carousel_item", false);
  const caption = parameters.text("caption");
  if (isChild && caption !== "") refuseParameter("A carousel item cannot have a caption");
  checkCaption(caption, network.world.settings.values.instagramHashtags);
  const made = contentOf(network, graphCall, isChild);
  spendContainer(network, graphCall);
  const id = network.world.snowflakes.next(now);
  const owner = account.externalId;
  network.containers.put({
    id,
    owner,
    isChild,
    caption,
    createdAt: now,
    publishedAt: null,
    shareToFeed: parameters.has("share_to_feed")
      ? parameters.flag("share_to_feed", true)
      : undefined,
    ...made,
  });
  if (!made.isPushed) return { status: 200, body: { id } };
  network.uploads.begin(id, owner);
  return { status: 200, body: { id, uri: ruploadUrl(call, UPLOAD_EDGE, version, id) } };
}
