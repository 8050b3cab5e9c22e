/**
 * The result of a check of an installation. `off` = the checked part is not configured, which may be intended.
 * `warning` = the part works, but an operator should know something. `failed` = the part does not work.
 */
export type FindingStatus = "ok" | "off" | "warning" | "failed";

/** The result of one check of an installation, for an operator. It contains no secret. */
export interface Finding {
  /** Name of the check: what it checks, in a few words. */
  readonly name: string;
  readonly status: FindingStatus;
  /** What the check found, as a sentence. */
  readonly found: string;
  /** What the operator should do about what the check found. */
  readonly remedy?: string;
  /** Path, relative to `docs/`, of the guide that explains how to correct what the check found. */
  readonly guide?: string;
  readonly tookMs?: number;
}

/** A check of one part of an installation. If the check throws an error, its finding is `failed`. */
export interface DiagnosticCheck {
  readonly name: string;
  /** What the operator should do when the check throws an error. */
  readonly remedy: string;
  readonly guide?: string;
  readonly run: (signal: AbortSignal) => Promise<Omit<Finding, "name">>;
}

/** Maximum duration of one check of an installation in milliseconds. A check that takes longer counts as failed. */
const CHECK_MS = 15_000;

/** Runs checks concurrently and returns their findings in the order of the checks. */
export async function runChecks(checks: readonly DiagnosticCheck[]): Promise<readonly Finding[]> {
  return await Promise.all(checks.map(runCheck));
}

async function runCheck({ name, remedy, guide, run }: DiagnosticCheck): Promise<Finding> {
  const startedAt = performance.now();
  const place = guide === undefined ? {} : { guide };
  const timed = <T extends Omit<Finding, "name">>(result: T) => ({
    ...place,
    ...result,
    name,
    tookMs: Math.round(performance.now() - startedAt),
  });
  const signal = AbortSignal.timeout(CHECK_MS);
  try {
    return timed(await Promise.race([run(signal), rejectAfter(signal)]));
  } catch (error) {
    const found = error instanceof Error ? describe(error) : "the check failed";
    return timed({ status: "failed", found, remedy });
  }
}

/** Ends a check at its time limit even if its dependency ignores the abort signal. */
function rejectAfter(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const message = `there was no answer within ${CHECK_MS / 1000} s`;
    signal.addEventListener("abort", () => reject(new Error(message)), { once: true });
  });
}

/** Describes an error by its message, or by its code, because a driver's error may have an empty message. */
function describe(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return error.message === "" ? code || error.name : error.message;
}
