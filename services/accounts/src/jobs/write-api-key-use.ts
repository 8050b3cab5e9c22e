import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { updateLastUsedAt } from "#src/db/api-keys.ts";

/**
 * Collects which API keys were used and writes the times of their last use later, so that requests
 * do not wait for the database. Disposing writes the times that are not written yet.
 */
export interface ApiKeyUse extends AsyncDisposable {
  note(keyId: string): void;
}

const WRITE_INTERVAL_MS = 1_000;

/**
 * Starts the job that writes the times of the last use of API keys. A crash loses at most the uses
 * that were collected in one interval; the next request with the same API key is recorded again.
 */
export function startWriteApiKeyUse({
  sql,
  logger,
}: {
  readonly sql: Sql;
  readonly logger: Logger;
}): ApiKeyUse {
  const used = new Set<string>();
  const write = async (): Promise<void> => {
    if (used.size === 0) return;
    const ids = [...used];
    used.clear();
    try {
      await updateLastUsedAt(sql, ids);
    } catch (error) {
      for (const id of ids) used.add(id);
      logger.warn(
        { err: error },
        "the time of the last use of API keys could not be written; the write is tried again",
      );
    }
  };
  const loop = startLoop({
    idleMs: WRITE_INTERVAL_MS,
    work: async () => {
      await write();
      return false;
    },
    onError: (error) =>
      logger.error(
        { err: error },
        "the job that writes the time of the last use of API keys failed; its next run tries again",
      ),
  });
  return {
    note: (keyId) => void used.add(keyId),
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await write();
    },
  };
}
