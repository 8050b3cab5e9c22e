import { createHash } from "node:crypto";
import { MediaUnreadable, type Unreadability } from "#src/publishing/media-bytes.ts";
import type { PublicationMedia } from "#src/publishing/publication.ts";

const PIECE_BYTES = 64 * 1024;

/** A file of a post, held in memory; a test can make reading it fail. */
export class TestMedia implements PublicationMedia {
  readonly id: string;
  readonly kind: "image" | "video";
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  width: number | null = 640;
  height: number | null = 480;
  durationMs: number | null = 1000;
  altText: string | null = null;
  coverMs: number | null = null;
  readonly fileName: string;
  /** URL of the file; no server listens there until `MediaServer` serves the file. */
  url = "http://127.0.0.1:1/media/token";
  readonly content: Buffer;
  /**
   * The errors with which the next reads of the file fail, in order; when the list is empty, reads
   * succeed.
   */
  failures: Unreadability[] = [];
  reads = 0;

  constructor(id: string, contentType: string, content: Buffer) {
    this.id = id;
    this.kind = contentType.startsWith("video/") ? "video" : "image";
    this.contentType = contentType;
    this.bytes = content.length;
    this.sha256 = createHash("sha256").update(content).digest("hex");
    this.fileName = `${id}.${contentType.split("/")[1] ?? ""}`;
    this.content = content;
  }

  // `read` is a property and not a method, so that a copy of this object with the spread operator
  // contains it.
  read: PublicationMedia["read"] = ({ start, length }) => {
    this.reads += 1;
    const failure = this.failures.shift();
    if (failure === "gone" || failure === "unavailable")
      return Promise.reject(new MediaUnreadable(failure, `media is ${failure}`));
    return Promise.resolve(this.#pieces(start, length ?? this.bytes - start, failure === "broken"));
  };

  async *#pieces(start: number, length: number, breaks: boolean): AsyncGenerator<Uint8Array> {
    for (let at = start; at < start + length; at += PIECE_BYTES) {
      yield this.content.subarray(at, Math.min(at + PIECE_BYTES, start + length));
      if (breaks) throw new MediaUnreadable("broken", "media broke off");
    }
  }
}

/** Creates a PNG of one pixel; each `nonce` gives a different file. */
export function pngMedia(nonce: number): TestMedia {
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==";
  const content = Buffer.concat([Buffer.from(png, "base64"), Buffer.from(String(nonce))]);
  return new TestMedia(`png-${nonce}`, "image/png", content);
}

/** Creates a file whose bytes begin like a GIF. */
export function gifMedia(): TestMedia {
  return new TestMedia(
    "gif",
    "image/gif",
    Buffer.from("GIF89a\x40\x01\xf0\x00 and so on", "latin1"),
  );
}

/** Creates a file whose bytes begin like an MP4 video; each `nonce` gives a different file. */
export function mp4Media(bytes: number, nonce = 0): TestMedia {
  const content = Buffer.alloc(bytes, `video ${nonce} `);
  content.write("\0\0\0\x18ftypmp42", "latin1");
  return new TestMedia(`mp4-${nonce}`, "video/mp4", content);
}

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length);
  header.write(type, 4, "latin1");
  return Buffer.concat([header, body]);
}

/** Creates a file with the headers of an MP4 or MOV video of this size. */
export function mp4OfSize(width: number, height: number, contentType = "video/mp4"): TestMedia {
  const track = Buffer.alloc(84);
  track.writeInt32BE(0x1_00_00, 40);
  track.writeUInt16BE(width, 76);
  track.writeUInt16BE(height, 80);
  const brand = contentType === "video/quicktime" ? "qt  " : "mp42";
  const content = Buffer.concat([
    box("ftyp", Buffer.from(`${brand}\0\0\0\0`, "latin1")),
    box("moov", box("trak", box("tkhd", track))),
    box("mdat", Buffer.alloc(1000, `video ${width} ${height}`)),
  ]);
  const video = new TestMedia(`mp4-${width}-${height}`, contentType, content);
  video.width = width;
  video.height = height;
  return video;
}

/** Gives a video the size and duration that Facebook publishes as a reel. */
export function toReel(video: TestMedia): TestMedia {
  video.width = 720;
  video.height = 1280;
  video.durationMs = 10_000;
  return video;
}
