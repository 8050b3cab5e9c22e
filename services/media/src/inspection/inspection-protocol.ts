import type { DeclaredFile, InspectionResult } from "#src/domain/inspected-media.ts";

/** The limits of one inspection. */
export interface InspectionLimits {
  readonly maxImageBytes: number;
  readonly maxVideoBytes: number;
  /** Maximum resident memory of the child process. */
  readonly memoryBytes: number;
  /** Maximum processor time between two `progress` messages. */
  readonly timeMs: number;
}

/** Tells the child process to inspect one file. */
export interface InspectionRequest {
  readonly path: string;
  readonly declared: DeclaredFile | undefined;
  readonly limits: InspectionLimits;
}

/** A message of the child process. `progress` restarts the time limit; the other two kinds end the inspection. */
export type InspectionReply =
  | { readonly kind: "progress" }
  | { readonly kind: "done"; readonly result: InspectionResult }
  /** The inspection itself failed, for example because the file cannot be opened. */
  | { readonly kind: "failed"; readonly message: string };

/**
 * Path, beside the inspected file, at which the child process writes the file that platforms receive, if the two differ.
 */
export function deliveryPathOf(path: string): string {
  return `${path}.delivery`;
}
