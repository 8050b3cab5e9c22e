import type { ISql } from "@postrider/shared/postgres";

/** Returns those of the keys that a row of media or of a rendition contains. */
export async function listNamedObjects(
  sql: ISql,
  keys: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ key: string }[]>`
    select object_key as key
    from media
    where object_key = any(${keys as string[]}::text[])
    union all
    select delivery_key
    from media
    where delivery_key = any(${keys as string[]}::text[])
    union all
    select object_key
    from media_renditions
    where object_key = any(${keys as string[]}::text[])`;
  return rows.map(({ key }) => key);
}

/**
 * Returns those of the ids whose media are pending: their direct upload may exist before a row
 * names it.
 */
export async function listPendingIds(
  sql: ISql,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id
    from media
    where id = any(${ids as string[]}::uuid[])
    and status = 'pending'`;
  return rows.map(({ id }) => id);
}
