/** A part of a film that is overwritten: by `bytes`, then by zeros. */
export interface Blank {
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly zeros: number;
}

/** What the structure of a film says. */
export interface Film {
  /** Pixels, after rotation. */
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
  /** Where metadata is, by offset; none overlaps another. */
  readonly blanks: readonly Blank[];
}

/** Nobody posts longer ones; what claims more is broken or hostile. */
export const MAX_DURATION_MS = 24 * 60 * 60 * 1000;
