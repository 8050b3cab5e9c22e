import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { ruploadUrl } from "#src/graph/rupload.ts";
import type { Reply } from "#src/http/call.ts";
import { checkCaption, fetchFilm, fetchImage } from "#src/instagram/container-rules.ts";
import type { Container } from "#src/instagram/containers.ts";
import { refuseChildCount, refuseGone, refuseNotReady, refuseType } from "#src/instagram/errors.ts";
import type { InstagramNetwork } from "#src/instagram/network.ts";

const CONTAINERS_A_DAY = 400;
const DAY_MS = 86_400_000;
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

type Made = Pick<Container, "kind" | "media" | "error" | "isPushed">;

function imageOf(graphCall: GraphCall): Made {
  const media = [fetchImage(graphCall)];
  return { kind: "image", media, error: null, isPushed: false };
}

/** A film is pushed, or fetched from its address; what is wrong with that one is told by its status. */
function reelOf(graphCall: GraphCall): Made {
  const { parameters } = graphCall;
  const isPushed = parameters.text("upload_type") === "resumable";
  if (isPushed === parameters.has("video_url")) {
    refuseParameter("The parameter video_url or an upload_type of resumable is required");
  }
  const film = isPushed ? { media: [], error: null } : fetchFilm(graphCall);
  return { kind: "reel", isPushed, ...film };
}

/** The children in their order: own, ready, never published and none twice. */
function childrenOf({ containers }: InstagramNetwork, graphCall: GraphCall): Container[] {
  const { account, now, parameters } = graphCall;
  const ids = parameters.required("children").split(",");
  if (ids.length < MIN_CHILDREN || ids.length > MAX_CHILDREN) {
    refuseChildCount();
  }
  if (new Set(ids).size < ids.length) {
    refuseParameter("A child stands twice in children");
  }
  return ids.map((id) => {
    const child = containers.find(account.externalId, id, now);
    if (child === undefined) {
      return refuseGone();
    }
    const { code } = containers.statusOf(child, now);
    if (!child.isChild || code === "ERROR") {
      return refuseParameter(`${id} cannot be a part of a carousel`);
    }
    if (code !== "FINISHED") {
      return code === "IN_PROGRESS" ? refuseNotReady() : refuseGone();
    }
    return child;
  });
}

function carouselOf(network: InstagramNetwork, graphCall: GraphCall): Made {
  const children = childrenOf(network, graphCall);
  const media = children.flatMap((child) => network.containers.mediaOf(child));
  return { kind: "carousel", media, error: null, isPushed: false };
}

/** A single film is a reel; a part of a carousel says what it is as well, an image nothing. */
function makeOf(network: InstagramNetwork, graphCall: GraphCall, isChild: boolean): Made {
  const type = graphCall.parameters.text("media_type");
  switch (type) {
    case "":
    case "IMAGE":
      return imageOf(graphCall);
    case "REELS":
    case "VIDEO":
      if (isChild !== (type === "VIDEO")) {
        refuseParameter(`The media_type ${type} cannot be used here`);
      }
      return reelOf(graphCall);
    case "CAROUSEL":
      return isChild ? refuseType() : carouselOf(network, graphCall);
    default:
      return refuseType();
  }
}

function spendContainer({ world }: InstagramNetwork, { account, now }: GraphCall): void {
  const key = `instagram:containers:${account.externalId}`;
  const rule = { key, limit: CONTAINERS_A_DAY, windowMs: DAY_MS };
  if (!world.limits.spend([rule], now).allowed) {
    refuseGraph({ code: 80_002, message: "There have been too many containers on this account." });
  }
}

function create(network: InstagramNetwork, graphCall: GraphCall): Reply {
  const { parameters, account, now, call, version, id: path } = graphCall;
  if (path !== account.externalId) {
    return refuseObject(path);
  }
  parameters.checkNames(PARAMETERS);
  const isChild = parameters.flag("is_carousel_item", false);
  const caption = parameters.text("caption");
  if (isChild && caption !== "") {
    refuseParameter("A part of a carousel has no caption");
  }
  checkCaption(caption);
  const made = makeOf(network, graphCall, isChild);
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
    ...made,
  });
  if (!made.isPushed) {
    return { status: 200, body: { id } };
  }
  network.uploads.begin(id, owner);
  return { status: 200, body: { id, uri: ruploadUrl(call, UPLOAD_EDGE, version, id) } };
}

/** `POST /:account/media`: the container of an image, a film, a carousel or a part of one. */
export function createContainer(network: InstagramNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/media",
    operations: () => ["create"],
    scope: "instagram_content_publish",
    fetches: ["image_url", "video_url"],
    handle: (graphCall) => create(network, graphCall),
  };
}
