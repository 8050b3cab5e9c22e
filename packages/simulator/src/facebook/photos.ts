import { checkMessage, checkPage, isPublishing } from "#src/facebook/feed.ts";
import type { FacebookNetwork } from "#src/facebook/network.ts";
import { publishPost } from "#src/facebook/publishing.ts";
import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseParameter } from "#src/graph/errors.ts";
import type { Reply } from "#src/http/call.ts";
import { receive, type ReceivedMedia } from "#src/world/received-media.ts";

const MAX_BYTES = 4_000_000;
const NAMES = ["source", "url", "caption", "alt_text_custom", "published"];

function refusePhoto(message: string): never {
  return refuseGraph({
    code: 100,
    subcode: 1_366_046,
    message,
    userMessage:
      "Your photos couldn't be uploaded. Photos should be less than 4 MB and saved as JPG, PNG, GIF, TIFF, HEIF or WebP files.",
  });
}

function bytesOf({ parameters, fetched }: GraphCall): Buffer {
  const source = parameters.file("source");
  if (source !== undefined) return source;

  const file = fetched.get(parameters.required("url"));
  if (file?.kind !== "file" || !file.contentType.startsWith("image/"))
    return refuseGraph({ code: 324, subcode: 2_069_019, message: "Missing or invalid image file" });

  return file.bytes;
}

export function photoOf(graphCall: GraphCall): ReceivedMedia {
  const bytes = bytesOf(graphCall);
  if (bytes.length > MAX_BYTES) refusePhoto("The photo is too large");

  const received = receive([bytes]);
  return received === undefined || received.kind === "video"
    ? refusePhoto("The file is not a photo")
    : received;
}

function create(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, account, now } = graphCall;
  checkPage(graphCall);
  parameters.checkNames(NAMES);
  const caption = checkMessage("caption", parameters.text("caption"));
  const isPublished = parameters.flag("published", true);
  if (parameters.has("source") && parameters.has("url"))
    refuseParameter("A photo has either a source or a url.");

  const received = photoOf(graphCall);
  const page = account.externalId;
  const id = network.world.snowflakes.next(now);
  const altText = parameters.text("alt_text_custom");
  const photo = {
    id,
    page,
    caption,
    altText,
    received,
    createdAt: now,
    deletedAt: null,
    post: null,
  };
  network.photos.put(id, photo);
  if (!isPublished) return { status: 200, body: { id } };

  const post = {
    id: `${page}_${network.world.snowflakes.next(now)}`,
    page,
    message: caption,
    link: "",
    photos: [id],
    createdAt: now,
    publishedAt: null,
    deletedAt: null,
  };
  network.photos.put(id, { ...photo, post: post.id });
  publishPost(network, account, post, now);
  return { status: 200, body: { id, post_id: post.id } };
}

export function createPhoto(network: FacebookNetwork): GraphEndpoint {
  return {
    method: "POST",
    path: "/:id/photos",
    operations: (call) => (isPublishing(call) ? ["publish", "create"] : ["upload", "create"]),
    scope: "pages_manage_posts",
    fetches: ["url"],
    handle: (graphCall) => create(network, graphCall),
  };
}
