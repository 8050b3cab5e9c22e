import type { FacebookNetwork, FacebookPhoto } from "#src/facebook/network.ts";
import { publishPost, refuseDuplicate } from "#src/facebook/publishing.ts";
import type { GraphCall } from "#src/graph/endpoint.ts";
import { refuseGraph, refuseObject, refuseParameter } from "#src/graph/errors.ts";
import { parametersOf } from "#src/graph/parameters.ts";
import { type Call, isRecord, type Reply } from "#src/http/call.ts";
import type { Operations } from "#src/platform.ts";
import { existsAt } from "#src/world/posts.ts";
import { receive, type ReceivedMedia } from "#src/world/received-media.ts";

const MAX_MESSAGE = 63_206;
const MAX_PHOTOS = 10;

export function isPublishing(call: Call): boolean {
  return !["false", "0"].includes(parametersOf(call).text("published"));
}

export function feedOperations(call: Call): Operations {
  return isPublishing(call) ? ["publish", "create"] : ["create"];
}

export function checkPage({ id, account }: GraphCall): void {
  if (id !== account.externalId && id !== "me") refuseObject(id);
}

/**
 * Refuses a video when the app may not publish videos. Public threads quote the text; no official
 * page does.
 */
export function checkMayPublishVideos({ world }: Pick<FacebookNetwork, "world">): void {
  if (world.settings.values.facebookVideos === "refused")
    refuseParameter("(#100) No permission to publish the video");
}

export function checkMessage(name: string, text: string): string {
  return text.length > MAX_MESSAGE ? refuseParameter(`Param ${name} is too long.`) : text;
}

/** Hosts of Facebook itself, whose addresses Facebook refuses as the link of a post. */
const FACEBOOK_HOST = /(^|\.)(facebook\.com|fb\.com|fb\.me|fb\.watch)$/;
/** A host whose pages the simulated Facebook cannot read. */
const UNREADABLE_HOST = "unreadable.example.com";

function checkLink(link: string): string {
  if (link === "") return link;
  const url = /^https?:\/\//i.test(link) ? URL.parse(link) : null;
  if (url === null)
    return refuseGraph({ code: 100, subcode: 2_061_006, message: "The URL is not valid." });
  const { hostname } = url;
  if (FACEBOOK_HOST.test(hostname))
    return refuseGraph({ code: 100, subcode: 1_609_008, message: "You can't post this link." });
  return hostname === UNREADABLE_HOST
    ? refuseGraph({ code: 100, subcode: 1_609_005, message: "The page could not be scraped." })
    : link;
}

function attachedPhotos(network: FacebookNetwork, graphCall: GraphCall): FacebookPhoto[] {
  const { parameters, account, now } = graphCall;
  const attached = parameters.json("attached_media") ?? [];
  if (!Array.isArray(attached) || attached.length > MAX_PHOTOS)
    return refuseParameter(`Param attached_media must be an array of at most ${MAX_PHOTOS}.`);
  const mayRepeat = network.world.settings.values.repeatedPosts === "accepted";
  return attached.map((one: unknown) => {
    const id = isRecord(one) ? one["media_fbid"] : undefined;
    const photo = typeof id === "string" ? network.photos.get(id) : undefined;
    if (photo === undefined || photo.page !== account.externalId || !existsAt(photo, now))
      return refuseParameter("Param attached_media must name photos of this Page.");
    return photo.post === null || mayRepeat
      ? photo
      : refuseGraph({
          code: 100,
          subcode: 1_366_051,
          message: "These photos were already posted.",
          userMessage: "These photos were already posted.",
        });
  });
}

export function createFeedPost(network: FacebookNetwork, graphCall: GraphCall): Reply {
  const { parameters, account, now } = graphCall;
  checkPage(graphCall);
  parameters.checkNames(["message", "link", "published", "attached_media"]);
  const message = checkMessage("message", parameters.text("message"));
  const link = checkLink(parameters.text("link"));
  const isPublished = parameters.flag("published", true);
  const attached = attachedPhotos(network, graphCall);
  if (message === "" && link === "" && attached.length === 0)
    refuseParameter("Missing message or attachment");
  if (link !== "" && attached.length > 0) refuseParameter("A post has either a link or photos.");
  const photos = attached.map(({ id }) => id);
  refuseDuplicate(network, account, { message, link, photos }, now);
  const id = `${account.externalId}_${network.world.snowflakes.next(now)}`;
  const page = account.externalId;
  const post = {
    id,
    page,
    message,
    link,
    photos,
    createdAt: now,
    publishedAt: null,
    deletedAt: null,
  };
  network.posts.put(id, post);
  for (const photo of attached) network.photos.put(photo.id, { ...photo, post: id });
  if (isPublished) publishPost(network, account, post, now);
  return { status: 200, body: { id } };
}

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

export function createPhoto(network: FacebookNetwork, graphCall: GraphCall): Reply {
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

export function photoOperations(call: Call): Operations {
  return isPublishing(call) ? ["publish", "create"] : ["upload", "create"];
}
