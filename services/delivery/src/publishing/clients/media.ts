import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { PreparedMedia } from "@postrider/contracts/media/v1/media_service_pb";
import { MediaUnreadable } from "@postrider/platforms/publishing/media-bytes";
import type { ByteRange, PublicationMedia } from "@postrider/platforms/publishing/publication";
import { createMediaLinks } from "@postrider/rest/media/links";
import { toTls } from "@postrider/shared/connect/client";
import type { OwnIdentity } from "@postrider/shared/identity/settings";
import { createIdentitySource } from "@postrider/shared/identity/token-source";
import { outgoingHeaders } from "@postrider/shared/telemetry/cause";
import { Agent, request } from "undici";
import {
  callPrepareMedia,
  type MediaPreparation,
  type MediaServiceClient,
} from "./prepare-media.ts";

export interface MediaSourceOptions {
  readonly baseUrl: string;
  readonly identity: OwnIdentity;
  /** Public base URL of the gateway, from which platforms download media. */
  readonly publicUrl: string;
  /** Signs the media URLs given to platforms; the gateway verifies them with the same key. */
  readonly mediaKey: string;
  /** How long a signed media URL that is given to a platform is valid, in milliseconds. */
  readonly urlMs: number;
  readonly mediaService: MediaServiceClient;
}

export type PreparedFile =
  | { readonly kind: "file"; readonly media: PublicationMedia }
  /** The image cannot be converted; the message is a sentence for users. */
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "gone" };

/** Gives the connectors of the platforms access to media files. */
export interface MediaSource extends AsyncDisposable {
  /**
   * Returns the files that platforms receive, in the order of `items`, and makes those that do not
   * exist yet. Equal items always return the same file, so that a search for a post looks for the
   * file that was published with it.
   *
   * @throws ServiceError When the media service does not answer in time, or is of a release that
   *   cannot convert files.
   */
  prepare(items: readonly MediaPreparation[]): Promise<readonly PreparedFile[]>;
  /** For media that are not converted, from the data stored with the post. */
  describe(media: Media): PublicationMedia;
}

/** Over plain HTTP; see "Objects" in services/media/README.md. */
export function createMediaSource(options: MediaSourceOptions): MediaSource {
  const reader = createReader(options);
  const { publicUrl, mediaKey, urlMs } = options;
  const links = createMediaLinks({ publicUrl, mediaKeys: [mediaKey], mediaUrlMs: urlMs });

  function toPublicationMedia(media: Media, file: FileFacts): PublicationMedia {
    const { renditionId, ...facts } = file;
    const address = { path: `${media.workspaceId}/${media.id}`, rendition: renditionId };
    return {
      ...toFacts(media),
      ...facts,
      url: links.urlOf(media.workspaceId, media.id, renditionId),
      read: (range, signal) => reader.read(address, range, signal),
    };
  }

  const describe = (media: Media) => toPublicationMedia(media, deliveryFile(media));

  return {
    describe,
    prepare: async (items) => {
      const files = await callPrepareMedia(options.mediaService, items);
      return items.map((_, index) => toPreparedFile(files[index], toPublicationMedia));
    },
    [Symbol.asyncDispose]: () => reader.close(),
  };
}

/**
 * Address of a file at the media service: the two variable parts of
 * `GET /objects/{path}?rendition=`.
 */
interface FileAddress {
  readonly path: string;
  readonly rendition: string;
}

function createReader({ baseUrl, identity: own }: MediaSourceOptions) {
  // With no limit of connections: a file is read as fast as its platform takes it, and a request
  // that waits for a connection has no timeout. The tasks in work limit how many there are.
  const agent = new Agent({ headersTimeout: 10_000, bodyTimeout: 30_000, ...toTls(own) });
  const identity = createIdentitySource(own, "media");
  async function read(
    { path, rendition }: FileAddress,
    { start, length }: ByteRange,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const end = length === undefined ? "" : String(start + length - 1);
    const url = `${baseUrl}/objects/${path}?rendition=${rendition}`;
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
  return { read, close: () => agent.close() };
}

type FileFacts = Pick<PublicationMedia, "contentType" | "bytes" | "sha256" | "width" | "height"> & {
  readonly renditionId: string;
};

function toPreparedFile(
  file: PreparedMedia | undefined,
  describe: (media: Media, file: FileFacts) => PublicationMedia,
): PreparedFile {
  if (file === undefined) return { kind: "gone" };
  if (file.refusal !== "") return { kind: "refused", message: file.refusal };
  if (file.media === undefined) return { kind: "gone" };
  const { contentType, sha256, renditionId } = file;
  const size = toSize(file);
  const facts = { contentType, sha256, bytes: Number(file.bytes), renditionId, ...size };
  return { kind: "file", media: describe(file.media, facts) };
}

/** Returns the properties of the file that platforms receive when a target needs no rendition. */
function deliveryFile(media: Media): FileFacts {
  return {
    contentType: media.deliveryContentType,
    bytes: Number(media.deliveryBytes),
    sha256: media.deliverySha256,
    ...toSize(media),
    renditionId: "delivery",
  };
}

function toSize({ width, height }: { readonly width: number; readonly height: number }) {
  return { width: width === 0 ? null : width, height: height === 0 ? null : height };
}

function toFacts(media: Media): Omit<PublicationMedia, "url" | "read" | keyof FileFacts> {
  return {
    id: media.id,
    kind: media.kind === "video" ? "video" : "image",
    durationMs: media.durationMs === undefined ? null : Number(media.durationMs),
    altText: media.altText ?? null,
    coverMs: media.coverMs === undefined ? null : Number(media.coverMs),
    fileName: media.fileName,
  };
}

/**
 * HTTP status codes of the media service that mean that a media file will never be available again.
 */
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
