import { kindOf } from "#src/domain/accepted-types.ts";
import type {
  Delivery,
  InspectedMedia,
  MediaViolation,
  Patch,
} from "#src/domain/inspected-media.ts";
import { isRefusal, isRenditionType, type RenditionOutcome } from "#src/domain/rendition-plan.ts";
import type { VideoFacts } from "#src/domain/videos/video-layout.ts";
import type { InspectionEnd } from "./inspection-protocol.ts";

/** Clients see names of codecs, profiles and pixel formats. */
const NAME = /^[a-z0-9][a-z0-9 .:/_?-]{0,59}$/i;

function parseVideoFacts(said: unknown): { readonly video?: VideoFacts } {
  if (typeof said !== "object" || said === null) return {};
  const { codec, profile, pixelFormat, fps, audioCodec, fastStart, fragmented } = said as Readonly<
    Record<string, unknown>
  >;
  const isRate = typeof fps === "number" && fps > 0 && fps <= 1000;
  const video = {
    codec: toName(codec) ?? "unknown",
    profile: toName(profile),
    pixelFormat: toName(pixelFormat),
    fps: isRate ? fps : null,
    audioCodec: toName(audioCodec),
    fastStart: fastStart === true,
    fragmented: fragmented === true,
  };
  return { video };
}

function toName(said: unknown): string | null {
  return typeof said === "string" && NAME.test(said) ? said : null;
}

/** Clients see the message with which an inspection rejects a file. */
const MAX_MESSAGE_CHARACTERS = 500;
/** Maximum size of a rendition, and of a rewritten file that is longer than the uploaded one. */
const MAX_DELIVERY_BYTES = 256_000_000;
const MAX_SIDE = 1_000_000;
const MAX_PATCHES = 200;
/** The largest number that the column can store. */
const MAX_FRAMES = 2_147_483_647;
/** A result with more is not valid. */
const MAX_OUTCOMES = 500;
/** Clients see media types. */
const MEDIA_TYPE = /^[a-z]{1,20}\/[a-z0-9.+-]{1,80}$/;
const SHA256 = /^[0-9a-f]{64}$/;
const CODES: ReadonlySet<unknown> = new Set<MediaViolation["code"]>([
  "media_type_unsupported",
  "media_type_mismatch",
  "media_too_large",
  "media_length_mismatch",
  "media_dimensions",
  "media_unreadable",
]);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Checks and copies what an inspection process or the inspector says about a file. A hostile file
 * may have taken it over, so nothing that it says may harm more than this file: neither the path of
 * a file to read nor a media type that browsers execute is accepted. Undefined when `said` is not
 * valid; the path of a rewritten file is empty.
 */
export function parseEnd(said: unknown, fileBytes: number): InspectionEnd | undefined {
  const end = toFields(said);
  switch (end["kind"]) {
    case "gone":
    case "full":
      return { kind: end["kind"] };
    case "failed":
      return { kind: "failed", message: toText(end["message"]) };
    case "exhausted":
      return parseExhausted(end["what"]);
    case "rendered":
      return parseRendered(end, fileBytes);
    case "done":
      return parseDone(toFields(end["result"]), fileBytes);
    default:
      return undefined;
  }
}

function parseExhausted(what: unknown): InspectionEnd | undefined {
  const isKnown = what === "time" || what === "memory" || what === "crash";
  return isKnown ? { kind: "exhausted", what } : undefined;
}

function parseDone(result: Fields, fileBytes: number): InspectionEnd | undefined {
  if (result["kind"] === "rejected") {
    const violation = parseViolation(toFields(result["violation"]));
    return violation && { kind: "done", result: { kind: "rejected", violation } };
  }
  if (result["kind"] !== "accepted") return undefined;
  const media = parseMedia(toFields(result["media"]), fileBytes);
  return media && { kind: "done", result: { kind: "accepted", media } };
}

function parseViolation({
  code,
  message,
  limit,
  actual,
  found,
}: Fields): MediaViolation | undefined {
  if (!CODES.has(code)) return undefined;
  return {
    code: code as MediaViolation["code"],
    message: toText(message),
    ...(isCount(limit) ? { limit } : {}),
    ...(isCount(actual) ? { actual } : {}),
    ...(isMediaType(found) ? { found } : {}),
  };
}

function parseMedia(media: Fields, fileBytes: number): InspectedMedia | undefined {
  const { contentType, sha256, bytes } = media;
  if (typeof contentType !== "string" || !isHash(sha256) || bytes !== fileBytes) return undefined;
  const kind = kindOf(contentType);
  if (kind === undefined || kind !== media["kind"]) return undefined;
  const extent = parseExtent(media);
  const delivery = parseDelivery(toFields(media["delivery"]), fileBytes);
  const frames = parseFrames(media["frames"]);
  if (extent === undefined || delivery === undefined || frames === undefined) return undefined;
  const video = kind === "video" ? parseVideoFacts(media["video"]) : {};
  return { kind, contentType, bytes, sha256, ...extent, frames, delivery, ...video };
}

function parseExtent({
  width,
  height,
  durationMs = null,
}: Fields): Pick<InspectedMedia, "width" | "height" | "durationMs"> | undefined {
  if (!isSide(width) || !isSide(height)) return undefined;
  return durationMs === null || isCount(durationMs) ? { width, height, durationMs } : undefined;
}

function parseFrames(frames: unknown): number | undefined {
  return isCount(frames) && frames <= MAX_FRAMES ? frames : undefined;
}

function parseRendered({ outcomes }: Fields, fileBytes: number): InspectionEnd | undefined {
  if (!Array.isArray(outcomes)) return undefined;
  const parsed = outcomes.map((outcome) => parseOutcome(toFields(outcome), fileBytes));
  const known = parsed.filter((outcome) => outcome !== undefined);
  if (known.length !== parsed.length || known.length > MAX_OUTCOMES) return undefined;
  return { kind: "rendered", outcomes: known };
}

function parseOutcome(outcome: Fields, fileBytes: number): RenditionOutcome | undefined {
  const { kind, refusal, contentType, width, height, bytes } = outcome;
  if (kind === "refused") return isRefusal(refusal) ? { kind, refusal } : undefined;
  if (kind !== "made" || !isSide(width) || !isSide(height) || !isCount(bytes)) return undefined;
  if (!isRenditionType(contentType)) return undefined;
  // The index may be a little longer than before.
  const most = contentType === "video/mp4" ? fileBytes + MAX_DELIVERY_BYTES : MAX_DELIVERY_BYTES;
  return bytes > most ? undefined : { kind, contentType, width, height, bytes };
}

function parseDelivery(delivery: Fields, fileBytes: number): Delivery | undefined {
  const { kind, bytes, sha256, contentType, patches } = delivery;
  if (kind === "same") return { kind };
  if (!isHash(sha256)) return undefined;
  if (kind === "blanked") {
    const parsed = parsePatches(patches, fileBytes);
    return parsed && { kind, patches: parsed, sha256 };
  }
  if (kind !== "rewritten" || typeof contentType !== "string") return undefined;
  if (kindOf(contentType) === undefined || !isCount(bytes)) return undefined;
  if (bytes > Math.max(fileBytes, MAX_DELIVERY_BYTES)) return undefined;
  return { kind, path: "", bytes, sha256, contentType };
}

function parsePatches(patches: unknown, fileBytes: number): readonly Patch[] | undefined {
  if (!Array.isArray(patches) || patches.length > MAX_PATCHES) return undefined;
  const parsed: Patch[] = [];
  for (const patch of patches.map(toFields)) {
    const { offset, bytes } = patch;
    if (!isCount(offset) || typeof bytes !== "string") return undefined;
    if (offset + Buffer.byteLength(bytes, "base64") > fileBytes) return undefined;
    parsed.push({ offset, bytes });
  }
  return parsed;
}

function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function toText(value: unknown): string {
  return (typeof value === "string" ? value : "").slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed();
}

function isMediaType(value: unknown): value is string {
  return typeof value === "string" && MEDIA_TYPE.test(value);
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && SHA256.test(value);
}

/** Whether a value is a whole number that the database can store. */
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isSide(value: unknown): value is number {
  return isCount(value) && value >= 1 && value <= MAX_SIDE;
}
