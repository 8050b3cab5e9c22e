/** `off`: not configured. `warning`: works, but an operator should know something. */
export type FindingStatus = "ok" | "off" | "warning" | "failed";

export interface Finding {
  readonly name: string;
  readonly status: FindingStatus;
  readonly found: string;
  readonly remedy?: string;
  /** Path, relative to `docs/`, of the guide. */
  readonly guide?: string;
  readonly tookMs?: number;
}

/** If the check throws an error, its finding is `failed`. */
export interface DiagnosticCheck {
  readonly name: string;
  /** Advice for an error that the check throws. */
  readonly remedy: string;
  readonly guide?: string;
  readonly run: (signal: AbortSignal) => Promise<Omit<Finding, "name">>;
}

/** A check that takes longer counts as failed. */
const CHECK_MS = 15_000;

/** In the order of the checks. */
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

/** Even if a dependency ignores the abort signal. */
function rejectAfter(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const message = `there was no answer within ${CHECK_MS / 1000} s`;
    signal.addEventListener("abort", () => reject(new Error(message)), { once: true });
  });
}

/** Uses the error's code if its message is empty, as that of a driver's error may be. */
function describe(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return error.message === "" ? code || error.name : error.message;
}
