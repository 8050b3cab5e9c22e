import { createHash } from "node:crypto";
import { MediaUnreadable, type Unreadability } from "#src/publishing/media-unreadable.ts";
import type { PublicationMedia } from "#src/publishing/publication.ts";

const PIECE_BYTES = 64 * 1024;

/** A file of a post whose bytes are at hand; tests let it break. */
export class TestMedia implements PublicationMedia {
  readonly id: string;
  readonly kind: "image" | "video";
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  width: number | null = 640;
  height: number | null = 480;
  durationMs: number | null = 1000;
  readonly fileName: string;
  /** Where nothing is, until a test serves it. */
  url = "http://127.0.0.1:1/media/token";
  readonly content: Buffer;
  /** How the next reads end, in order; well when it is empty. */
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

  // A property, because a publication is copied with its media.
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

/** The smallest PNG; each number is another file. */
export function pngMedia(nonce: number): TestMedia {
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==";
  const content = Buffer.concat([Buffer.from(png, "base64"), Buffer.from(String(nonce))]);
  return new TestMedia(`png-${nonce}`, "image/png", content);
}

/** What begins like a GIF. */
export function gifMedia(): TestMedia {
  return new TestMedia(
    "gif",
    "image/gif",
    Buffer.from("GIF89a\x40\x01\xf0\x00 and so on", "latin1"),
  );
}

/** Bytes that begin like an MP4 video; each nonce is another file. */
export function mp4Media(bytes: number, nonce = 0): TestMedia {
  const content = Buffer.alloc(bytes, `film ${nonce} `);
  content.write("\0\0\0\x18ftypmp42", "latin1");
  return new TestMedia(`mp4-${nonce}`, "video/mp4", content);
}

/** Gives a video the size and duration that Facebook publishes as a reel. */
export function toReel(video: TestMedia): TestMedia {
  video.width = 720;
  video.height = 1280;
  video.durationMs = 10_000;
  return video;
}
