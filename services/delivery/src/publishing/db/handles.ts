import type { Handles } from "@postrider/platforms/publishing/handles";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import {
  newNonce,
  seal,
  unseal,
  type SealedPlace,
  type SealingKey,
} from "@postrider/shared/secrets/sealing";
import type { HeldKey, StoredHandles, TaskKey } from "#src/publishing/domain/task.ts";
import { toKeyRows } from "./tasks.ts";

/** Handles are secret: anyone who has the URL of an upload can send bytes to it. */
export interface HandleSealing {
  seal(task: TaskKey, handles: Handles): StoredHandles;
  /** @throws SealError Without the key, or for a handle that was changed or is of another task. */
  open(task: TaskKey, stored: StoredHandles | null): Handles;
}

function placeOf({ targetId, generation }: TaskKey, name: string): SealedPlace {
  return { table: "task_handles", rowId: `${targetId}/${generation}`, column: name };
}

/** The first key, which is the newest, seals; every key can unseal. */
export function createHandleSealing(keys: readonly SealingKey[]): HandleSealing {
  const sealOne = (task: TaskKey, name: string, text: string) => ({
    sealed: seal(keys, placeOf(task, name), text, newNonce()),
  });
  return {
    seal: (task, handles) => {
      const entries = Object.entries(handles);
      return Object.fromEntries(entries.map(([name, text]) => [name, sealOne(task, name, text)]));
    },
    open: (task, stored) =>
      Object.fromEntries(
        Object.entries(stored ?? {}).map(([name, handle]) => [
          name,
          unseal(keys, placeOf(task, name), typeof handle === "string" ? handle : handle.sealed),
        ]),
      ),
  };
}

/** Returns false, and stores nothing, if another worker has claimed the task. */
export async function storeHandles(
  sql: ISql,
  held: HeldKey,
  handles: StoredHandles,
): Promise<boolean> {
  // The row lock prevents another worker from claiming the task between the check of the fencing
  // token and the write of the handles.
  const rows = await sql`
    with ours as (
      select target_id, generation, workspace_id
      from publish_tasks
      where target_id = ${held.targetId}
      and generation = ${held.generation}
      and fence = ${held.fence}
      and status in ('working', 'reconciling')
      for share
    )
    insert into task_handles (target_id, generation, workspace_id, handles)
    select target_id, generation, workspace_id, ${sql.json(handles)}
    from ours
    on conflict (target_id, generation) do update
    set handles = excluded.handles
    returning 1`;
  return rows.length > 0;
}

export interface AddedHandles {
  readonly task: TaskKey & { readonly workspaceId: string };
  readonly handles: StoredHandles;
}

/** The caller has locked the tasks, so their fencing tokens are not checked. */
export async function addHandles(
  tx: TransactionSql,
  added: readonly AddedHandles[],
): Promise<void> {
  const rows = added.map(({ task, handles }) => ({
    target_id: task.targetId,
    generation: task.generation,
    workspace_id: task.workspaceId,
    handles,
  }));
  await tx`
    insert into task_handles as h (target_id, generation, workspace_id, handles)
    select target_id, generation, workspace_id, handles
    from jsonb_to_recordset(${tx.json(rows)})
      as k(target_id uuid, generation int, workspace_id uuid, handles jsonb)
    on conflict (target_id, generation) do update
    set handles = h.handles || excluded.handles`;
}

export async function deleteHandles(tx: TransactionSql, tasks: readonly TaskKey[]): Promise<void> {
  await tx`
    delete from task_handles h
    using jsonb_to_recordset(${tx.json(toKeyRows(tasks))}) as k(target_id uuid, generation int)
    where h.target_id = k.target_id
    and h.generation = k.generation`;
}

export async function listHandleKeys(sql: ISql): Promise<readonly string[]> {
  const rows = await sql<{ keyId: string }[]>`
    select distinct split_part(handle.value ->> 'sealed', '.', 2) as key_id
    from task_handles
    cross join jsonb_each(handles) as handle
    where jsonb_typeof(handle.value) = 'object'`;
  return rows.map(({ keyId }) => keyId);
}
