import type { Sql } from "@postrider/shared/postgres";
import { Batcher } from "@postrider/shared/process/batcher";
import { storeHandles, type HeldHandles } from "#src/publishing/db/handles.ts";
import { nameClaim } from "#src/publishing/domain/task.ts";

/** Returns false, and stores nothing, if another worker has claimed the task. */
export type HandleStore = Batcher<HeldHandles, boolean>;

/** One statement stores the handles of all workers of a process. */
export function createHandleStore(sql: Sql): HandleStore {
  return new Batcher<HeldHandles, boolean>({
    windowMs: 1,
    maxItems: 100,
    patienceMs: 200,
    flush: async (held) => {
      const stored = new Set((await storeHandles(sql, held)).map(nameClaim));
      return held.map((one) => stored.has(nameClaim(one)));
    },
  });
}
