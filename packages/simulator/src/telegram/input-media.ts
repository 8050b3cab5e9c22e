import { isRecord, Refused } from "#src/http/call.ts";
import { refuse, statusFailure } from "#src/telegram/errors.ts";
import { captionText, listOf, type Parameters, textOf } from "#src/telegram/parameters.ts";
import { receive, type ReceivedMedia } from "#src/world/received-media.ts";

export type InputKind = "photo" | "video" | "animation";

export interface InputMedia {
  readonly kind: InputKind;
  readonly received: ReceivedMedia;
  readonly caption: string;
  readonly width: number;
  readonly height: number;
  readonly duration: number;
}

const MAX_PHOTO_BYTES = 10_000_000;
const MAX_FILE_BYTES = 50_000_000;
const MAX_WIDTH_PLUS_HEIGHT = 10_000;
const MAX_ASPECT = 20;
const MIN_ALBUM_FILES = 2;
const MAX_ALBUM_FILES = 10;
const ATTACHED = "attach://";

function bytesOf(parameters: Parameters, value: unknown, kind: InputKind): Buffer {
  const name = typeof value === "string" ? value : "";
  const file = name.startsWith(ATTACHED) ? parameters.get(name.slice(ATTACHED.length)) : value;
  if (Buffer.isBuffer(file)) return file.length > 0 ? file : refuse("file must be non-empty");
  if (name === "") return refuse(`there is no ${kind} in the request`);
  return refuse(
    /^https?:/.test(name)
      ? "failed to get HTTP URL content"
      : "wrong file identifier/HTTP URL specified",
  );
}

function checkPhoto({ width, height }: ReceivedMedia): void {
  if (width === undefined || height === undefined) return;
  const aspect = Math.max(width, height) / Math.min(width, height);
  if (width + height > MAX_WIDTH_PLUS_HEIGHT || aspect > MAX_ASPECT)
    refuse("PHOTO_INVALID_DIMENSIONS");
}

const PHOTO_TYPES: readonly string[] = ["image/jpeg", "image/png", "image/webp"];

function photo(bytes: Buffer): ReceivedMedia {
  if (bytes.length > MAX_PHOTO_BYTES) refuse("file is too big for a photo");
  const received = receive([bytes]);
  const isTaken = received?.kind === "image" && PHOTO_TYPES.includes(received.contentType);
  if (!isTaken || (received.frames ?? 1) > 1) return refuse("IMAGE_PROCESS_FAILED");
  checkPhoto(received);
  return received;
}

function video(bytes: Buffer, kind: "video" | "animation"): ReceivedMedia {
  if (bytes.length > MAX_FILE_BYTES) throw new Refused(statusFailure(413));
  const received = receive([bytes]);
  const isTaken =
    received?.contentType === "video/mp4" || (kind === "animation" && received?.kind === "gif");
  // The real server sends a file of another type as a document; callers expect a video or an
  // animation.
  return received !== undefined && isTaken ? received : refuse("VIDEO_CONTENT_TYPE_INVALID");
}

function numberOf(parameters: Parameters, name: string): number {
  const value = Number(textOf(parameters, name));
  return Number.isSafeInteger(value) && value >= 0
    ? value
    : refuse(`can't parse ${name} as an integer`);
}

function inputMedia(
  parameters: Parameters,
  kind: InputKind,
  value: unknown,
  about: Parameters,
): InputMedia {
  const bytes = bytesOf(parameters, value, kind);
  const received = kind === "photo" ? photo(bytes) : video(bytes, kind);
  return {
    kind,
    received,
    caption: captionText(about),
    width: numberOf(about, "width") || (received.width ?? 0),
    height: numberOf(about, "height") || (received.height ?? 0),
    duration: numberOf(about, "duration"),
  };
}

export function singleMedia(parameters: Parameters, kind: InputKind): InputMedia {
  return inputMedia(parameters, kind, parameters.get(kind), parameters);
}

type Part = () => InputMedia;

/** Nothing is sent if this fails. */
function checkPart(parameters: Parameters, entry: unknown): Part {
  const type = isRecord(entry) ? entry["type"] : undefined;
  if (!isRecord(entry) || (type !== "photo" && type !== "video"))
    return refuse("only photos and videos go together in this album");
  const about = new Map(Object.entries(entry));
  captionText(about);
  bytesOf(parameters, entry["media"], type);
  return () => inputMedia(parameters, type, entry["media"], about);
}

/** The files of an album; in place of one that Telegram cannot process, why. */
export function groupMedia(parameters: Parameters): readonly (InputMedia | Refused)[] {
  const entries = listOf(parameters, "media");
  if (entries.length < MIN_ALBUM_FILES || entries.length > MAX_ALBUM_FILES)
    refuse("an album has 2 to 10 messages");
  const parts = entries.map((entry) => checkPart(parameters, entry));
  return parts.map((read) => {
    try {
      return read();
    } catch (error) {
      if (error instanceof Refused && error.reply.status === 400) return error;
      throw error;
    }
  });
}
