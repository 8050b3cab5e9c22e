import type { CheckResult, Declared } from "#src/domain/checked-media.ts";

/** What bounds a check. */
export interface CheckLimits {
  readonly maxImageBytes: number;
  readonly maxVideoBytes: number;
  /** Resident memory of the checking process. */
  readonly memoryBytes: number;
  /** Processor time without progress. */
  readonly timeMs: number;
}

/** One file to check, as the checking process is told. */
export interface CheckRequest {
  readonly path: string;
  readonly declared: Declared | undefined;
  readonly limits: CheckLimits;
}

/** `progress`: the file is understood and its bytes are being read; the time allowed begins anew. */
export type CheckReply =
  | { readonly kind: "progress" }
  | { readonly kind: "done"; readonly result: CheckResult }
  /** Trouble that says nothing of the file. */
  | { readonly kind: "failed"; readonly message: string };

/** Where the checking process may leave another form of a file: beside it. */
export function deliveryPathOf(path: string): string {
  return `${path}.delivery`;
}
