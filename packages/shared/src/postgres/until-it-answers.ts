import { setTimeout as sleep } from "node:timers/promises";
import { isInfrastructureError } from "#src/postgres.ts";

const RETRY_MS = 1_000;

/** Roles, passwords and databases that are wrong stay wrong: the operator has to know. */
const STAYS = /^(?:28|3D|42)/;

export interface WaitOptions {
  /** Called once for each new reason. */
  readonly onWait?: (reason: string) => void;
  readonly signal: AbortSignal;
}

/** Repeats what a Postgres that starts, or another migration, prevents. Throws other errors. */
export async function untilItAnswers<T>(
  work: () => Promise<T>,
  { onWait, signal }: WaitOptions,
): Promise<T> {
  let told = "";
  for (;;)
    try {
      return await work();
    } catch (error) {
      const reason = reasonToWait(error);
      if (reason === undefined || signal.aborted) throw error;
      if (reason !== told) onWait?.(reason);
      told = reason;
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
    }
}

function reasonToWait(error: unknown): string | undefined {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!isInfrastructureError(cause) || !(cause instanceof Error)) return undefined;
  const code = "code" in cause ? String(cause.code) : "";
  return STAYS.test(code) ? undefined : cause.message || code;
}
