/** Random access, because videos are too large for memory. */
export interface ByteSource {
  readonly bytes: number;
  /** Fewer bytes at the end of the file. The buffer is valid until the next call. */
  readonly read: (offset: number, length: number) => Buffer;
}

export interface VideoFacts {
  /** For example `h264` or `vp9`; the four-character code if Postrider has no name for it. */
  readonly codec: string;
  readonly profile: string | null;
  /** For example `yuv420p` (8 bits) or `yuv422p10`. */
  readonly pixelFormat: string | null;
  readonly fps: number | null;
  /** Codec of the first audio track; null for a video without sound. */
  readonly audioCodec: string | null;
  readonly fastStart: boolean;
  readonly fragmented: boolean;
}

const CHROMA = ["gray", "yuv420p", "yuv422p", "yuv444p"] as const;

/** `chroma` is the number of ITU-T H.264, table 6-1. */
export function pixelFormatOf(chroma: number, bits: number): string | null {
  const name = CHROMA[chroma];
  if (name === undefined || bits < 8 || bits > 16) return null;
  return bits === 8 ? name : `${name}${bits}`;
}

export function toFps(fps: number): number | null {
  return fps > 0 && fps <= 1000 ? Math.round(fps * 1000) / 1000 : null;
}

/** A range to overwrite with `bytes`, followed by `zeros` zero bytes. */
export interface BlankedRange {
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly zeros: number;
}

/** What the structure says, without decoding frames. Width and height are after rotation. */
export interface VideoLayout {
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
  readonly facts: VideoFacts;
  /** Ordered by offset and without overlaps. */
  readonly blanks: readonly BlankedRange[];
}

/** No platform accepts longer videos; a file that claims more is broken or hostile. */
export const MAX_DURATION_MS = 24 * 60 * 60 * 1000;
