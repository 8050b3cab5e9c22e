import type { HeldKey, TaskKey } from "#src/publishing/domain/held-task.ts";

/** Keys as `jsonb_to_recordset(…) as k(target_id uuid, generation int)` reads them. */
export function toKeyRows(keys: readonly TaskKey[]) {
  return keys.map((key) => ({ target_id: key.targetId, generation: key.generation }));
}

/** Keys as `jsonb_to_recordset(…) as k(target_id uuid, generation int, fence bigint)` reads them. */
export function toHeldRows(keys: readonly HeldKey[]) {
  return keys.map((key) => ({
    target_id: key.targetId,
    generation: key.generation,
    fence: key.fence,
  }));
}

/** One text per task, to look it up by. */
export function nameTask(key: TaskKey): string {
  return `${key.targetId}/${key.generation}`;
}
