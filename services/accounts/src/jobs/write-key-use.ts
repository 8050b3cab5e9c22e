import type { Sql } from "@postrider/shared/postgres";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { touchApiKeys } from "#src/db/api-keys.ts";

/** Collects which keys were used and writes that off the way of the requests. Disposing writes what is left. */
export interface KeyUse extends AsyncDisposable {
  note(keyId: string): void;
}

const EVERY_MS = 1_000;

/** What a crash loses is the use of one second, which the next request notes again. */
export function startKeyUse(options: { readonly sql: Sql; readonly logger: Logger }): KeyUse {
  const used = new Set<string>();
  const write = async (): Promise<void> => {
    if (used.size === 0) return;
    const ids = [...used];
    used.clear();
    try {
      await touchApiKeys(options.sql, ids);
    } catch (error) {
      for (const id of ids) used.add(id);
      options.logger.warn({ err: error }, "the use of keys was not written");
    }
  };
  const loop = startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      await write();
      return false;
    },
    onError: (error) => options.logger.error({ err: error }, "noting the use of keys failed"),
  });
  return {
    note: (keyId) => void used.add(keyId),
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await write();
    },
  };
}
