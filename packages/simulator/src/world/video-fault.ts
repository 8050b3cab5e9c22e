import type { Mp4Facts } from "#src/world/mp4.ts";
import type { ReceivedMedia } from "#src/world/received-media.ts";

/** What a simulated platform takes of MP4 and MOV files, in the terms of the files. */
export interface VideoLimits {
  readonly video: readonly string[];
  readonly audio?: readonly string[];
  /** Whether H.264 must have 8 bits and 4:2:0. */
  readonly plainAvc?: boolean;
  readonly minFps?: number;
  readonly maxFps: number;
  readonly fastStart?: boolean;
}

export const AVC: readonly string[] = ["avc1", "avc3"];
export const HEVC: readonly string[] = ["hvc1", "hev1"];
export const AAC: readonly string[] = ["mp4a.40", "mp4a.66", "mp4a.67", "mp4a.68"];

/** Number of H.264's profile High, above which are those for more than 8 bits and for 4:2:2. */
const HIGH = 100;
/** A mean of 60.2 frames per second counts as 60. */
const FPS_TOLERANCE = 0.5;

function isEncodedOtherwise(facts: Mp4Facts, limits: VideoLimits): boolean {
  const { video, audio, avcProfile = 0, isFastStart } = facts;
  const isPlain = limits.plainAvc !== true || avcProfile <= HIGH;
  const isSoundTaken = audio === undefined || limits.audio?.includes(audio) !== false;
  const isPlaced = limits.fastStart !== true || isFastStart;
  return !limits.video.includes(video) || !isPlain || !isSoundTaken || !isPlaced;
}

/** Undefined when the platform takes the video, or cannot read it. */
export function videoFault(
  { mp4 }: ReceivedMedia,
  limits: VideoLimits,
): "encoding" | "frame_rate" | undefined {
  if (mp4 === undefined) return undefined;

  return isEncodedOtherwise(mp4, limits) ? "encoding" : frameRateFault({ mp4 }, limits);
}

/** A rate that cannot be read is taken. */
export function frameRateFault(
  { mp4 }: Pick<ReceivedMedia, "mp4">,
  { minFps = 0, maxFps }: Pick<VideoLimits, "minFps" | "maxFps">,
): "frame_rate" | undefined {
  const { fps = maxFps } = mp4 ?? {};
  const isOutside = fps < minFps - FPS_TOLERANCE || fps > maxFps + FPS_TOLERANCE;
  return isOutside ? "frame_rate" : undefined;
}
