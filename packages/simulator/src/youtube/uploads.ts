import { randomBytes } from "node:crypto";
import type { Pieces } from "#src/store/pieces.ts";
import type { Store, Table } from "#src/store/store.ts";
import { receive, type ReceivedMedia } from "#src/world/received-media.ts";
import type { Secrets } from "#src/world/world.ts";
import type { VideoMetadata } from "#src/youtube/video-metadata.ts";

/** Kept after it is complete. */
export interface Upload {
  /** It authorizes the caller to send the bytes. */
  readonly id: string;
  readonly channel: string;
  readonly metadata: VideoMetadata;
  readonly totalBytes: number | null;
  readonly storedBytes: number;
  readonly pieces: number;
  readonly expiresAt: number;
  readonly videoId?: string;
}

const SESSION_LIFETIME_MS = 7 * 86_400_000;

export class Uploads {
  readonly #rows: Table<Upload>;
  readonly #pieces: Pieces;
  readonly #secrets: Secrets;

  constructor(store: Store, pieces: Pieces, secrets: Secrets) {
    this.#rows = store.table<Upload>("youtube.uploads");
    this.#pieces = pieces;
    this.#secrets = secrets;
  }

  begin(about: Pick<Upload, "channel" | "metadata" | "totalBytes">, now: number): Upload {
    const id = this.#secrets.issue(`ABg5${randomBytes(48).toString("base64url")}`);
    const upload = {
      ...about,
      id,
      storedBytes: 0,
      pieces: 0,
      expiresAt: now + SESSION_LIFETIME_MS,
    };
    this.#rows.put(id, upload);
    return upload;
  }

  /** Deletes an expired session. */
  find(id: string, now: number): Upload | undefined {
    const upload = this.#rows.get(id);
    if (upload !== undefined && now >= upload.expiresAt) {
      this.#pieces.drop(pieceNames(upload));
      this.#rows.delete(id);
      return undefined;
    }
    return upload;
  }

  ownerOf(id: string): string | undefined {
    return this.#rows.get(id)?.channel;
  }

  append(upload: Upload, bytes: Buffer): Upload {
    if (bytes.length === 0) return upload;
    this.#pieces.put(pieceName(upload, upload.pieces), bytes);
    const storedBytes = upload.storedBytes + bytes.length;
    const extended = { ...upload, storedBytes, pieces: upload.pieces + 1 };
    this.#rows.put(upload.id, extended);
    return extended;
  }

  read(upload: Upload): ReceivedMedia | undefined {
    return receive(this.#pieces.read(pieceNames(upload)));
  }

  complete(upload: Upload, videoId: string): void {
    this.#rows.put(upload.id, { ...upload, pieces: 0, videoId });
    this.#pieces.drop(pieceNames(upload));
  }
}

function pieceName({ id }: Upload, index: number): string {
  return `youtube-${id}-${index}`;
}

function pieceNames(upload: Upload): string[] {
  return Array.from({ length: upload.pieces }, (_unused, index) => pieceName(upload, index));
}
