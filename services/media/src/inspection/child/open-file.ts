import type { InspectionLimits } from "#src/inspection/inspection-protocol.ts";

export interface OpenFile {
  readonly fd: number;
  readonly bytes: number;
  readonly contentType: string;
  readonly limits: InspectionLimits;
  /** Restarts the time limit; called after each step whose duration grows with the file. */
  readonly onProgress: () => void;
}

export interface OpenImage extends OpenFile {
  readonly content: Buffer;
}
