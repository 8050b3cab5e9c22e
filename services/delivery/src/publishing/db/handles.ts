import type { Handles } from "@postrider/platforms/publishing/handles";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import {
  newNonce,
  seal,
  unseal,
  type SealedPlace,
  type SealingKey,
} from "@postrider/shared/secrets/sealing";
import type { LeasedKey, StoredHandles, TaskKey } from "#src/publishing/domain/task.ts";

/** Handles are secret: anyone who has the URL of an upload can send bytes to it. */
export interface HandleSealing {
  seal(task: TaskKey, handles: Handles): StoredHandles;
  /** @throws SealError Without the key, or for a handle that was changed or is of another task. */
  open(task: TaskKey, stored: StoredHandles | null): Handles;
}

function placeOf({ targetId, generation }: TaskKey, name: string): SealedPlace {
  return { table: "publish_tasks", rowId: `${targetId}/${generation}`, column: name };
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

export interface LeasedHandles extends LeasedKey {
  readonly handles: StoredHandles;
}

/** Stores nothing for a task that another worker has claimed; returns the other ones. */
export async function storeHandles(
  sql: ISql,
  leased: readonly LeasedHandles[],
): Promise<readonly LeasedKey[]> {
  const rows = leased.map(({ targetId, generation, fence, handles }) => ({
    target_id: targetId,
    generation,
    fence,
    handles,
  }));
  // Tasks are locked in the order of their keys, so that two statements cannot deadlock.
  return await sql<LeasedKey[]>`
    with ours as materialized (
      select t.target_id, t.generation, k.handles
      from jsonb_to_recordset(${sql.json(rows)}) as k(target_id uuid, generation int, fence bigint, handles jsonb)
      join publish_tasks t
        on t.target_id = k.target_id and t.generation = k.generation and t.fence = k.fence
      where t.status in ('working', 'reconciling')
      order by t.target_id, t.generation
      for update of t
    )
    update publish_tasks t
    set handles = k.handles
    from ours k
    where t.target_id = k.target_id
    and t.generation = k.generation
    returning t.target_id, t.generation, t.fence`;
}

export interface AddedHandles {
  readonly task: TaskKey;
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
    handles,
  }));
  await tx`
    update publish_tasks t
    set handles = coalesce(t.handles, '{}') || k.handles
    from jsonb_to_recordset(${tx.json(rows)}) as k(target_id uuid, generation int, handles jsonb)
    where t.target_id = k.target_id
    and t.generation = k.generation`;
}

interface MovedHandles {
  readonly task: TaskKey;
  /** Whether a restore had removed later calls from the data of the old cell. */
  readonly isRestored: boolean;
  readonly handles: Handles;
}

/** Of the targets of a workspace that is moved for which the new cell has to search. */
export async function readMovedHandles(
  sql: ISql,
  sealing: HandleSealing,
  workspaceId: string,
): Promise<readonly MovedHandles[]> {
  const rows = await sql<
    (TaskKey & { readonly isRestored: boolean; readonly handles: StoredHandles })[]
  >`
    select target_id, generation, is_restored, handles
    from publish_tasks
    where workspace_id = ${workspaceId}
    and handles is not null
    and status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
    and open_unknowns > 0`;
  return rows.map(({ targetId, generation, isRestored, handles }) => {
    const task = { targetId, generation };
    return { task, isRestored, handles: sealing.open(task, handles) };
  });
}

/**
 * Only targets of the workspace that wait for their search take them. With its handles, the search
 * is the one that the old cell would have made.
 */
export async function writeMovedHandles(
  tx: TransactionSql,
  sealing: HandleSealing,
  { workspaceId, moved }: { readonly workspaceId: string; readonly moved: readonly MovedHandles[] },
): Promise<void> {
  const rows = moved.map(({ task, isRestored, handles }) => ({
    target_id: task.targetId,
    generation: task.generation,
    is_restored: isRestored,
    handles: sealing.seal(task, handles),
  }));
  await tx`
    update publish_tasks t
    set handles = k.handles,
      is_restored = k.is_restored
    from jsonb_to_recordset(${tx.json(rows)})
      as k(target_id uuid, generation int, is_restored boolean, handles jsonb)
    where t.target_id = k.target_id
    and t.generation = k.generation
    and t.workspace_id = ${workspaceId}
    and t.status = 'unknown'`;
}

export async function deleteHandles(
  tx: TransactionSql,
  targetIds: readonly string[],
): Promise<void> {
  await tx`
    update publish_tasks
    set handles = null
    where target_id in ${tx(targetIds)}`;
}

export async function listHandleKeys(sql: ISql): Promise<readonly string[]> {
  const rows = await sql<{ keyId: string }[]>`
    select distinct split_part(handle.value ->> 'sealed', '.', 2) as key_id
    from publish_tasks
    cross join jsonb_each(handles) as handle
    where handles is not null
    and jsonb_typeof(handle.value) = 'object'`;
  return rows.map(({ keyId }) => keyId);
}
