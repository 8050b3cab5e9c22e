import { randomBytes } from "node:crypto";
import type { Pieces } from "#src/store/pieces.ts";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";
import { receive, type ReceivedMedia } from "#src/world/received-media.ts";
import type { Secrets } from "#src/world/secrets.ts";
import type { VideoMetadata } from "#src/youtube/video-metadata.ts";

/** A resumable YouTube upload. The simulator keeps it after it is complete. */
export interface Upload {
  /** The id of the YouTube upload session. It authorizes the caller to send the bytes. */
  readonly id: string;
  readonly channel: string;
  readonly metadata: VideoMetadata;
  /**
   * The announced size of the YouTube file in bytes; null when the client did not announce the
   * size.
   */
  readonly totalBytes: number | null;
  readonly storedBytes: number;
  readonly pieces: number;
  /** When the YouTube upload session expires, in Unix milliseconds of the simulator's clock. */
  readonly expiresAt: number;
  /** Id of the YouTube video that the upload created; absent until the upload is complete. */
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

  /**
   * The YouTube upload session with the given id; undefined when the session is unknown or has
   * expired. Deletes an expired session.
   */
  find(id: string, now: number): Upload | undefined {
    const upload = this.#rows.get(id);
    if (upload !== undefined && now >= upload.expiresAt) {
      this.#dropPieces(upload);
      this.#rows.delete(id);
      return undefined;
    }
    return upload;
  }

  /** The channel of a YouTube upload session, also when the upload is complete. */
  ownerOf(id: string): string | undefined {
    return this.#rows.get(id)?.channel;
  }

  /** Appends bytes to the bytes of a YouTube upload that have already arrived. */
  append(upload: Upload, bytes: Buffer): Upload {
    if (bytes.length === 0) return upload;

    this.#pieces.put(pieceName(upload, upload.pieces), bytes);
    const storedBytes = upload.storedBytes + bytes.length;
    const extended = { ...upload, storedBytes, pieces: upload.pieces + 1 };
    this.#rows.put(upload.id, extended);
    return extended;
  }

  /**
   * Detects the type of a YouTube file from its bytes and hashes the file, when its upload is
   * complete.
   */
  read(upload: Upload): ReceivedMedia | undefined {
    return receive(this.#contents(upload));
  }

  complete(upload: Upload, videoId: string): void {
    this.#rows.put(upload.id, { ...upload, pieces: 0, videoId });
    this.#dropPieces(upload);
  }

  *#contents(upload: Upload): Generator<Buffer> {
    for (const name of pieceNames(upload)) yield this.#pieces.get(name);
  }

  #dropPieces(upload: Upload): void {
    for (const name of pieceNames(upload)) this.#pieces.drop(name);
  }
}

function pieceName({ id }: Upload, index: number): string {
  return `youtube-${id}-${index}`;
}

function pieceNames(upload: Upload): string[] {
  return Array.from({ length: upload.pieces }, (_unused, index) => pieceName(upload, index));
}
