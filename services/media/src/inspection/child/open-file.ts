import type { InspectionLimits } from "#src/inspection/inspection-protocol.ts";

/** An open media file and what is known about it before its structure is read. */
export interface OpenFile {
  /** Descriptor of the file under inspection. */
  readonly fd: number;
  readonly bytes: number;
  readonly contentType: string;
  readonly limits: InspectionLimits;
  /** Restarts the time limit of the inspection; called after each step whose duration grows with the file. */
  readonly onProgress: () => void;
}

/** An open image file with its content, which the image library reads from memory. */
export interface OpenImage extends OpenFile {
  readonly content: Buffer;
}
