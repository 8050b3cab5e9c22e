import type { VideoRules } from "#src/rules.ts";
import type { Rendition } from "./image-plan.ts";

const RATIO = 9 / 16;
/**
 * Maximum difference between a video's aspect ratio and the 9:16 of a reel. A difference is
 * tolerated because encoders round sizes up to whole blocks.
 */
const RATIO_TOLERANCE = 0.02;

interface VideoSize {
  readonly width?: number | null | undefined;
  readonly height?: number | null | undefined;
  readonly durationMs?: number | null | undefined;
}

/**
 * Whether a platform publishes a video as a reel: 9:16, and of the size and length of its rules.
 * MP4 is only recommended (Meta, "Reels Publishing API", 2026-07-30). A file of unknown size or
 * length is not taken for a reel.
 */
export function isReel({ width, height, durationMs }: VideoSize, { reel }: VideoRules): boolean {
  if (reel === undefined || !width || !height || !durationMs) return false;
  const hasLength = durationMs >= reel.minSeconds * 1000 && durationMs <= reel.maxSeconds * 1000;
  const hasSize = width >= reel.minWidth && height >= reel.minHeight;
  return hasLength && hasSize && Math.abs(width / height - RATIO) <= RATIO_TOLERANCE;
}

export interface VideoEncoding {
  readonly codec: string;
  readonly pixelFormat?: string | null | undefined;
  readonly fps?: number | null | undefined;
  readonly audioCodec?: string | null | undefined;
  readonly fastStart: boolean;
  readonly fragmented: boolean;
}

interface VideoFacts extends VideoSize {
  readonly contentType: string;
  /** Undefined where the encoding was not read. */
  readonly video?: VideoEncoding | undefined;
}

interface VideoFault {
  readonly code: "media_type_unsupported" | "media_codec" | "media_frame_rate";
  readonly limit?: number;
  readonly actual?: number;
  readonly found?: string;
  readonly fits: string;
}

type VideoPlan =
  | { readonly kind: "original" | "remux" }
  | { readonly kind: "refused"; readonly faults: readonly VideoFault[] };

const MP4 = "video/mp4";
/** Not a limit: the file is as long as the upload. */
const MAX_REMUX_BYTES = 1_000_000_000_000;
const QUICKTIME = "video/quicktime";
/** Codecs that MP4 files may contain, and that the media service moves from a MOV to an MP4. */
const MOVABLE: ReadonlySet<string> = new Set(["h264", "hevc"]);
const MOVABLE_AUDIO: ReadonlySet<string> = new Set(["aac"]);
/**
 * Tolerance for frames per second. The number is a mean: a video of a phone that records 60 frames
 * per second may have 60.2, and 23.976 counts as 24.
 */
const FPS_TOLERANCE = 0.5;

/**
 * The rendition of a video with unchanged streams. All platforms share one file, because neither
 * size nor length of the video change.
 */
export function remuxRendition(size: {
  readonly width: number;
  readonly height: number;
}): Rendition {
  return { contentType: MP4, ...size, fit: "scale", maxBytes: MAX_REMUX_BYTES };
}

/** What is not known of a video is not held against it. */
export function planVideo(file: VideoFacts, rules: VideoRules): VideoPlan {
  const isTaken = isTypeTaken(file.contentType, rules.types);
  const faults = [
    ...(isTaken || canMove(file, rules) ? [] : [typeFault(rules)]),
    ...encodingFaults(file.video, rules),
    ...rateFaults(file.video?.fps, isReel(file, rules) ? { ...rules, ...rules.reel } : rules),
  ];
  if (faults.length > 0) return { kind: "refused", faults };
  return { kind: isTaken && !needsFastStart(file, rules) ? "original" : "remux" };
}

function isTypeTaken(contentType: string, types: readonly string[]): boolean {
  return types.some(
    (type) =>
      type === contentType || (type.endsWith("/*") && contentType.startsWith(type.slice(0, -1))),
  );
}

function needsFastStart({ contentType, video }: VideoFacts, { fastStart }: VideoRules): boolean {
  const isIndexed = contentType === MP4 || contentType === QUICKTIME;
  if (fastStart !== true || !isIndexed || video === undefined) return false;
  return !video.fastStart && isMovable(video);
}

/** Without encoding it again. */
function canMove({ contentType, video }: VideoFacts, { types }: VideoRules): boolean {
  return (
    contentType === QUICKTIME && types.includes(MP4) && video !== undefined && isMovable(video)
  );
}

function isMovable({ codec, audioCodec, fragmented }: VideoEncoding): boolean {
  const isAudioMovable = MOVABLE_AUDIO.has(audioCodec ?? "aac");
  return MOVABLE.has(codec) && isAudioMovable && !fragmented;
}

function encodingFaults(
  video: VideoEncoding | undefined,
  rules: VideoRules,
): readonly VideoFault[] {
  if (video === undefined) return [];
  const isCoded = isCodecTaken(video, rules) && isAudioTaken(video, rules);
  return isCoded ? [] : [codecFault(video, rules)];
}

function codecFault(video: VideoEncoding, rules: VideoRules): VideoFault {
  const { codec, pixelFormat, audioCodec } = video;
  const picture = pixelFormat ? `${codec} (${pixelFormat})` : codec;
  const refused = [
    ...(isCodecTaken(video, rules) ? [] : [picture]),
    ...(isAudioTaken(video, rules) ? [] : [audioCodec]),
  ];
  return { code: "media_codec", found: refused.join(", "), fits: describeCodecs(rules) };
}

function isCodecTaken({ codec, pixelFormat }: VideoEncoding, { codecs }: VideoRules): boolean {
  if (codecs === undefined || codec === "unknown") return true;
  const rule = codecs.find(({ name }) => name === codec);
  if (rule === undefined) return false;
  return !pixelFormat || rule.pixelFormats?.includes(pixelFormat) !== false;
}

function isAudioTaken({ audioCodec }: VideoEncoding, { audioCodecs }: VideoRules): boolean {
  if (audioCodec === null || audioCodec === undefined || audioCodec === "unknown") return true;
  return audioCodecs?.includes(audioCodec) !== false;
}

function rateFaults(
  actual: number | null | undefined,
  { minFps, maxFps }: VideoRules,
): readonly VideoFault[] {
  if (actual === null || actual === undefined) return [];
  const fits = `${minFps ?? 1}–${maxFps ?? "∞"} fps`;
  const fault = { code: "media_frame_rate", actual, fits } as const;
  if (minFps !== undefined && actual < minFps - FPS_TOLERANCE) return [{ ...fault, limit: minFps }];
  if (maxFps !== undefined && actual > maxFps + FPS_TOLERANCE) return [{ ...fault, limit: maxFps }];
  return [];
}

function typeFault({ types }: VideoRules): VideoFault {
  return { code: "media_type_unsupported", fits: types.join(", ") };
}

function describeCodecs({ codecs = [], audioCodecs = [] }: VideoRules): string {
  const video = codecs.map(({ name, pixelFormats = [] }) =>
    pixelFormats.length === 0 ? name : `${name} (${pixelFormats.join(", ")})`,
  );
  return [...video, ...audioCodecs].join(", ");
}
