import type { VideoFacts } from "./video-facts.ts";

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
