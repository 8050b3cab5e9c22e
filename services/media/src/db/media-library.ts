import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { MediaRef } from "#src/db/media-usages.ts";
import { COLUMNS } from "#src/db/media.ts";
import type { DescriptionChange } from "#src/domain/media-description.ts";
import type { RenderedImage } from "#src/domain/rendition-plan.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";

/** Media that a page looks at. Further ones, if the filters let few pass, are on later pages. */
const WINDOW = 1_000;
/** Posts of one item that are counted. */
const MAX_POSTS = 1_001;

interface LibraryFilter {
  readonly kind: string | undefined;
  readonly isUnused: boolean;
  readonly isWithoutAltText: boolean;
  /** Pattern of the plans whose files no platform receives. */
  readonly previewPlans: string;
}

interface LibraryRow extends StoredMedia {
  /** Posts that use it; at most 1,001. */
  readonly posts: number;
  readonly isPrepared: boolean;
  /** Oldest first. */
  readonly converted: readonly RenderedImage[];
}

interface LibraryPage {
  readonly rows: readonly LibraryRow[];
  /** Id after which the next page begins; undefined on the last page. */
  readonly next: string | undefined;
}

/** The files that were made of `shown` for platforms. */
function convertedFiles(sql: ISql, previewPlans: string) {
  return sql`
    select coalesce(json_agg(json_build_object(
      'contentType', r.content_type, 'width', r.width, 'height', r.height, 'bytes', r.bytes
    ) order by r.created_at, r.id), '[]')
    from media_renditions r
    where r.media_id = shown.id
    and r.status = 'made'
    and r.plan not like ${previewPlans}`;
}

/**
 * Newest first: ids begin with their time. The window is read with its columns, and uses are looked
 * up one by one: a join of the window with a table would make Postgres read the whole table.
 */
export async function listLibrary(
  sql: ISql,
  workspaceId: string,
  page: LibraryFilter & { readonly limit: number; readonly before: string | undefined },
): Promise<LibraryPage> {
  const { kind, isUnused, isWithoutAltText, limit, before, previewPlans } = page;
  const rows = await sql<(LibraryRow & { lastOfWindow: string | null; isWindowFull: boolean })[]>`
    with seen as materialized (
      select ${sql(COLUMNS)}, prepared_at
      from media
      where workspace_id = ${workspaceId}
      ${before === undefined ? sql`` : sql`and id < ${before}`}
      order by id desc
      limit ${WINDOW}
    ),
    shown as (
      select *
      from seen
      where status = 'ready'
      ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
      ${isWithoutAltText ? sql`and coalesce(alt_text, '') = ''` : sql``}
      ${isUnused ? sql`and (select true from media_usages u where u.media_id = seen.id limit 1) is null` : sql``}
      order by id desc
      limit ${limit + 1}
    ),
    seen_window as (
      select (array_agg(id order by id))[1] as last_of_window, count(*) = ${WINDOW} as is_window_full
      from seen
    )
    select ${sql(COLUMNS.map((name) => `shown.${name}`))}, last_of_window, is_window_full, (
        select count(*)::int
        from (select from media_usages u where u.media_id = shown.id limit ${MAX_POSTS}) as counted
      ) as posts,
      prepared_at is not null as is_prepared, (
        ${convertedFiles(sql, previewPlans)}
      ) as converted
    from seen_window
    left join shown on true
    order by shown.id desc`;
  const found = rows.filter(({ id }) => id !== null);
  const [first] = rows;
  const shown = found.slice(0, limit);
  if (found.length > limit) return { rows: shown, next: shown.at(-1)?.id };
  const next = first?.isWindowFull === true ? (first.lastOfWindow ?? undefined) : undefined;
  return { rows: shown, next };
}

export interface DescribableMedia extends StoredMedia {
  readonly isPrepared: boolean;
  /** The post with which a platform may have received the media first. */
  readonly preparedFor: string | null;
}

/**
 * PrepareMedia writes the row before it reads the description: either it waits for this lock and
 * sends the new description, or this transaction sees that PrepareMedia was first.
 */
export async function lockDescribable(
  tx: TransactionSql,
  { workspaceId, mediaId }: MediaRef,
): Promise<DescribableMedia | undefined> {
  const [row] = await tx<DescribableMedia[]>`
    select ${tx(COLUMNS)}, prepared_at is not null as is_prepared, prepared_for
    from media
    where workspace_id = ${workspaceId}
    and id = ${mediaId}
    for update`;
  return row;
}

export async function updateDescription(
  sql: ISql,
  { workspaceId, mediaId }: MediaRef,
  { altText, coverMs }: DescriptionChange,
): Promise<StoredMedia> {
  const [row] = await sql<StoredMedia[]>`
    update media
    set version = version + 1,
      alt_text = ${altText === undefined ? sql`alt_text` : sql`${altText}`},
      cover_ms = ${coverMs === undefined ? sql`cover_ms` : sql`${coverMs}`}
    where workspace_id = ${workspaceId}
    and id = ${mediaId}
    returning ${sql(COLUMNS)}`;
  if (row === undefined) throw new Error("update of locked media returned no row");
  return row;
}

export async function markPrepared(
  sql: ISql,
  workspaceId: string,
  media: readonly { readonly mediaId: string; readonly postId: string | null }[],
): Promise<void> {
  const rows = [...new Map(media.map((each) => [each.mediaId, each])).values()];
  await sql`
    update media
    set prepared_at = now(),
      prepared_for = wanted.post_id
    from jsonb_to_recordset(${sql.json(rows.map(({ mediaId, postId }) => ({ id: mediaId, post_id: postId })))})
      as wanted (id uuid, post_id uuid)
    where media.workspace_id = ${workspaceId}
    and media.id = wanted.id
    and media.status = 'ready'
    and media.prepared_at is null`;
}
