/** How a video is encoded, as its container says. The frames themselves are not decoded. */
export interface VideoFacts {
  /** Name of the video codec, for example `h264`, `hevc`, `vp9` or `mpeg4`; its four-character code if Postrider has no name for it. */
  readonly codec: string;
  /** Profile of the codec, for example `high 10`; null when it is not known. */
  readonly profile: string | null;
  /** Chroma subsampling and bits of a sample, for example `yuv420p` (8 bits) or `yuv422p10`; null when they are not known. */
  readonly pixelFormat: string | null;
  /** Mean number of frames per second; null when it is not known. */
  readonly fps: number | null;
  /** Codec of the first audio track, for example `aac`; null for a video without sound. */
  readonly audioCodec: string | null;
  /** Whether the index lies in front of the frames, so that a player can begin before it has the whole file. */
  readonly fastStart: boolean;
  /** Whether the index is spread over the file (fragmented MP4). */
  readonly fragmented: boolean;
}

const CHROMA = ["gray", "yuv420p", "yuv422p", "yuv444p"] as const;

/** Returns the name of a pixel format; null for values that no format has. `chroma` is the number of ITU-T H.264, table 6-1. */
export function pixelFormatOf(chroma: number, bits: number): string | null {
  const name = CHROMA[chroma];
  if (name === undefined || bits < 8 || bits > 16) return null;
  return bits === 8 ? name : `${name}${bits}`;
}

/** Rounds frames per second to three digits, and returns null for a number that no video has. */
export function toFps(fps: number): number | null {
  return fps > 0 && fps <= 1000 ? Math.round(fps * 1000) / 1000 : null;
}
