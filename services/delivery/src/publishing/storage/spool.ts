import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import type {
  ByteRange,
  MediaPart,
  PublicationMedia,
} from "@postrider/platforms/publishing/publication";
import { Semaphore } from "@postrider/shared/limits/semaphore";

const CHUNK_BYTES = 64 * 1024;

export interface SpoolOptions {
  readonly folder: string;
  /** Over all media on disk; a download waits until there is room. */
  readonly maxBytes: number;
}

/** Downloaded media on the local disk. Disposing of it removes the files. */
export interface Spooled extends AsyncDisposable {
  /** `read` reads the downloaded parts from disk, the others from the media service. */
  readonly media: readonly PublicationMedia[];
}

interface Place extends MediaPart {
  readonly at: number;
}

/** Local files are unlinked once open, so the system removes them even after a crash. */
export class Spool {
  readonly #folder: string;
  /** A permit is a byte on disk. */
  readonly #room: Semaphore;

  constructor({ folder, maxBytes }: SpoolOptions) {
    this.#folder = folder;
    this.#room = new Semaphore({ total: maxBytes, maxWaiting: Infinity });
  }

  /**
   * A workspace leaves as much room for others as it uses. Media that are larger than all wait for
   * all.
   *
   * @throws The error of `read`, the signal's reason, or an error of the file system.
   */
  async fetch(
    all: readonly PublicationMedia[],
    parts: readonly MediaPart[],
    { workspaceId, signal }: { readonly workspaceId: string; readonly signal: AbortSignal },
  ): Promise<Spooled> {
    await using stack = new AsyncDisposableStack();
    const places = toPlaces(parts);
    const amount = parts.reduce((sum, { length }) => sum + length, 0);
    const shares = [{ key: workspaceId, perFree: 1 }];
    stack.use(await this.#room.acquire({ shares, amount, signal }));
    const file = stack.adopt(await openUnlinked(this.#folder), (opened) => opened.close());
    for (const place of places) await write(file, place, signal);
    const kept = stack.move();
    return {
      media: all.map((media) => ({ ...media, read: readFrom(file, media, places) })),
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  }
}

function toPlaces(parts: readonly MediaPart[]): readonly Place[] {
  let end = 0;
  return parts.map((part) => {
    const at = end;
    end += part.length;
    return { ...part, at };
  });
}

async function openUnlinked(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `postrider-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  return file;
}

async function write(file: FileHandle, place: Place, signal: AbortSignal): Promise<void> {
  const { media, start, length, at } = place;
  let written = 0;
  for await (const chunk of await media.read({ start, length }, signal)) {
    if (written + chunk.length > length) break;
    await file.write(chunk, 0, chunk.length, at + written);
    written += chunk.length;
  }
  if (written !== length)
    throw new Error("the size of the media differs from the size that the media service declared");
}

function readFrom(
  file: FileHandle,
  media: PublicationMedia,
  places: readonly Place[],
): PublicationMedia["read"] {
  return async (range, signal) => {
    const end = range.start + (range.length ?? media.bytes - range.start);
    const place = places.find(
      (one) =>
        one.media.id === media.id && one.start <= range.start && end <= one.start + one.length,
    );
    if (place === undefined) return await media.read(range, signal);
    return readRange(file, {
      start: place.at + range.start - place.start,
      length: end - range.start,
    });
  };
}

async function* readRange(
  file: FileHandle,
  { start, length }: Required<ByteRange>,
): AsyncGenerator<Uint8Array> {
  for (let done = 0; done < length;) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, length - done));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start + done);
    if (bytesRead === 0) throw new Error("the spooled media is truncated");
    yield buffer.subarray(0, bytesRead);
    done += bytesRead;
  }
}
