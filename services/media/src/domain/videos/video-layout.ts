import type { VideoFacts } from "./video-facts.ts";

/** A range of a video to overwrite with `bytes`, followed by `zeros` zero bytes. */
export interface BlankedRange {
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly zeros: number;
}

/** Properties of a video that are known from its structure, without decoding its frames. */
export interface VideoLayout {
  /** Width of the video in pixels after rotation. */
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
  readonly facts: VideoFacts;
  /** The ranges of metadata to blank, ordered by offset and without overlaps. */
  readonly blanks: readonly BlankedRange[];
}

/**
 * Maximum duration of a video in milliseconds. No platform accepts longer videos; a file that claims more is broken or
 * hostile.
 */
export const MAX_DURATION_MS = 24 * 60 * 60 * 1000;
