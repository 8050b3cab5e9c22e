import type { Media } from "@postrider/contracts/media/v1/media_pb";
import { MediaUnreadable } from "@postrider/platforms/publishing/media-unreadable";
import type { ByteRange, PublicationMedia } from "@postrider/platforms/publishing/publication";
import { createMediaLinks } from "@postrider/rest/media/links";
import { toTls } from "@postrider/shared/connect/client";
import type { OwnIdentity } from "@postrider/shared/identity/settings";
import { createIdentitySource } from "@postrider/shared/identity/token-source";
import { outgoingHeaders } from "@postrider/shared/telemetry/cause";
import { Agent, request } from "undici";

export interface MediaSourceOptions {
  /** Base URL of the media service. */
  readonly baseUrl: string;
  readonly identity: OwnIdentity;
  /** Public base URL of the gateway, from which platforms download media. */
  readonly publicUrl: string;
  /** Key that signs the media URLs given to platforms. The gateway verifies the URLs with the same key. */
  readonly mediaKey: string;
  /** How long a signed media URL that is given to a platform is valid, in milliseconds. */
  readonly urlMs: number;
}

/** Gives the connectors of the platforms access to media files. */
export interface MediaSource extends AsyncDisposable {
  describe(media: Media): PublicationMedia;
}

/**
 * Creates a source that reads media files from the media service over plain HTTP; see "Objects" in services/media/README.md.
 */
export function createMediaSource(options: MediaSourceOptions): MediaSource {
  const agent = new Agent({
    connections: 64,
    headersTimeout: 10_000,
    bodyTimeout: 30_000,
    ...toTls(options.identity),
  });
  const identity = createIdentitySource(options.identity, "media");
  const { publicUrl, mediaKey, urlMs } = options;
  const links = createMediaLinks({ publicUrl, mediaKeys: [mediaKey], mediaUrlMs: urlMs });

  async function read(
    { id, workspaceId }: Media,
    { start, length }: ByteRange,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const end = length === undefined ? "" : String(start + length - 1);
    const url = `${options.baseUrl}/objects/${workspaceId}/${id}?rendition=delivery`;
    try {
      const headers = {
        ...outgoingHeaders(),
        ...(await identity()),
        range: `bytes=${start}-${end}`,
      };
      const answer = await request(url, { headers, dispatcher: agent, signal });
      if (answer.statusCode === 206) return readOn(answer.body);
      await answer.body.dump();
      throw toUnreadable(answer.statusCode);
    } catch (error) {
      if (error instanceof MediaUnreadable) throw error;
      throw new MediaUnreadable("unavailable", "media does not answer", error);
    }
  }

  return {
    describe: (media) => ({
      ...toFacts(media),
      url: links.urlOf(media.workspaceId, media.id, "delivery"),
      read: (range, signal) => read(media, range, signal),
    }),
    [Symbol.asyncDispose]: () => agent.close(),
  };
}

function toFacts(media: Media): Omit<PublicationMedia, "url" | "read"> {
  return {
    id: media.id,
    kind: media.kind === "video" ? "video" : "image",
    contentType: media.deliveryContentType,
    bytes: Number(media.deliveryBytes),
    sha256: media.deliverySha256,
    width: media.width === 0 ? null : media.width,
    height: media.height === 0 ? null : media.height,
    durationMs: media.durationMs === undefined ? null : Number(media.durationMs),
    altText: media.altText ?? null,
    coverMs: media.coverMs === undefined ? null : Number(media.coverMs),
    fileName: media.fileName,
  };
}

/** HTTP status codes of the media service that mean that a media file will never be available again. */
const GONE = new Set([404, 410]);
const UNAVAILABLE = new Set([429, 502, 503, 504]);

function toUnreadable(status: number): MediaUnreadable {
  if (GONE.has(status)) return new MediaUnreadable("gone", "the media no longer exists");
  return new MediaUnreadable(
    UNAVAILABLE.has(status) ? "unavailable" : "broken",
    `the media service answered ${status}`,
  );
}

async function* readOn(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new MediaUnreadable("broken", "media broke off", error);
  }
}
