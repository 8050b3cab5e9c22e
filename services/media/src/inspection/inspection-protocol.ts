import type { DeclaredFile, InspectionResult } from "#src/domain/inspected-media.ts";

/** The limits of one inspection of a media file. */
export interface InspectionLimits {
  readonly maxImageBytes: number;
  readonly maxVideoBytes: number;
  /** Maximum resident memory of the inspection process in bytes. */
  readonly memoryBytes: number;
  /** Maximum processor time of the inspection process between two `progress` messages. */
  readonly timeMs: number;
}

/** Tells the inspection process to inspect one file. */
export interface InspectionRequest {
  readonly path: string;
  readonly declared: DeclaredFile | undefined;
  readonly limits: InspectionLimits;
}

/**
 * A message of the inspection process. The message `progress` restarts the time limit; the other two end the
 * inspection.
 */
export type InspectionReply =
  | { readonly kind: "progress" }
  | { readonly kind: "done"; readonly result: InspectionResult }
  /** The inspection could not be carried out, for example because the file cannot be opened. */
  | { readonly kind: "failed"; readonly message: string };

/**
 * Returns the path at which the inspection process writes the file that platforms receive, if it differs from the
 * inspected file.
 */
export function deliveryPathOf(path: string): string {
  return `${path}.delivery`;
}
