import type { Sql } from "@postrider/shared/postgres";
import { Batcher } from "@postrider/shared/process/batcher";
import { storeHandles, type LeasedHandles } from "#src/publishing/db/handles.ts";
import { nameClaim } from "#src/publishing/domain/task.ts";

/** Returns false, and stores nothing, if another worker has claimed the task. */
export type HandleStore = Batcher<LeasedHandles, boolean>;

/** One statement stores the handles of all workers of a process. */
export function createHandleStore(sql: Sql): HandleStore {
  return new Batcher<LeasedHandles, boolean>({
    windowMs: 1,
    maxItems: 100,
    patienceMs: 200,
    flush: async (leased) => {
      const stored = new Set((await storeHandles(sql, leased)).map(nameClaim));
      return leased.map((one) => stored.has(nameClaim(one)));
    },
  });
}
