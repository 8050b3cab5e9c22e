import { fromJson, toJson, type JsonValue } from "@bufbuild/protobuf";
import {
  TargetContentSchema,
  type TargetContent,
} from "@postrider/contracts/posts/v1/target_service_pb";
import type { PlatformFacts } from "@postrider/platforms/platform";
import type { PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { CheckAttempt, LiveCheck, LiveCheckStep } from "#src/publishing/domain/live-check.ts";
import type { ClaimedTask } from "#src/publishing/domain/task.ts";
import { isUnpaused, openPlatforms } from "./account-queues.ts";
import { insertRequests } from "./tasks.ts";

export interface NewLiveCheck {
  readonly id: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: PlatformId;
  readonly content: TargetContent;
}

const KEEP_DAYS = 30;
/** After that it is not sent any more: an operator waits for the result. */
const SEND_WITHIN_MINUTES = 10;

/** False, and nothing is recorded, while its platform, account or workspace is paused. */
export async function insertLiveCheck(
  tx: TransactionSql,
  { id, content, ...target }: NewLiveCheck,
): Promise<boolean> {
  const { workspaceId, accountId, platform } = target;
  const [row] = await tx<{ startedAt: Date }[]>`
    insert into live_checks (id, content)
    select ${id}, ${tx.json(toJson(TargetContentSchema, content) as never)}
    from (values (${workspaceId}::uuid, ${accountId}::uuid)) as c(workspace_id, account_id)
    where ${platform} in (${openPlatforms(tx, [platform])})
    and ${isUnpaused(tx)}
    returning started_at`;
  if (row === undefined) return false;
  const { startedAt: dueAt } = row;
  const publishBefore = new Date(dueAt.getTime() + SEND_WITHIN_MINUTES * 60_000);
  const request = { ...target, targetId: id, postId: id, generation: 1, dueAt, publishBefore };
  await insertRequests(tx, [request]);
  await tx`
    delete from live_checks
    where started_at < now() - ${KEEP_DAYS} * interval '1 day'`;
  return true;
}

/** By id. */
export async function findCheckContents(
  sql: ISql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TargetContent>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; content: JsonValue }[]>`
    select id, content
    from live_checks
    where id in ${sql(ids)}`;
  return new Map(rows.map(({ id, content }) => [id, fromJson(TargetContentSchema, content)]));
}

/** What a search for the post needs; undefined when the check is older than `KEEP_DAYS`. */
export interface CheckedCall extends Pick<ClaimedTask, "handles" | "calledAt" | "callUntil"> {
  readonly content: TargetContent;
  /** Whether what was read before the deletion is stored. */
  readonly isRead: boolean;
}

export async function findCheckedCall(sql: ISql, id: string): Promise<CheckedCall | undefined> {
  const [row] = await sql<(Omit<CheckedCall, "content"> & { content: JsonValue })[]>`
    select l.content, l.read_before is not null as is_read, t.called_at, t.call_until, t.handles
    from live_checks l
    join publish_tasks t on t.target_id = l.id
    where l.id = ${id}`;
  return row && { ...row, content: fromJson(TargetContentSchema, row.content) };
}

export async function storeReads(
  sql: ISql,
  id: string,
  column: "read_before" | "read_after",
  steps: readonly LiveCheckStep[],
): Promise<void> {
  await sql`
    update live_checks
    set ${sql(column)} = ${sql.json(steps as never)}
    where id = ${id}`;
}

interface CheckRow extends Pick<LiveCheck, "readBefore" | "readAfter"> {
  readonly content: JsonValue;
}

export async function findLiveCheck(sql: ISql, id: string): Promise<LiveCheck | undefined> {
  const [[row], [task], [deletion = null], attempts] = await Promise.all([
    sql<CheckRow[]>`
      select content, coalesce(read_before, '[]') as read_before, coalesce(read_after, '[]') as read_after
      from live_checks
      where id = ${id}`,
    sql<(LiveCheck["task"] & { readonly platform: PlatformId })[]>`
      select platform, status, open_unknowns, external_id, permalink, error_code, error_message, updated_at
      from publish_tasks
      where target_id = ${id}`,
    sql<NonNullable<LiveCheck["deletion"]>[]>`
      select status, error_code, error_message, updated_at
      from deletion_tasks
      where target_id = ${id}`,
    sql<CheckAttempt[]>`
      select outcome, code, message, external_id, started_at, called_at, finished_at
      from publish_attempts
      where target_id = ${id}
      order by number`,
  ]);
  if (row === undefined || task === undefined) return undefined;
  const { content, ...reads } = row;
  const { text } = fromJson(TargetContentSchema, content);
  const { rules, liveCheck }: PlatformFacts = PLATFORM_FACTS[task.platform];
  const staysUnpublished = liveCheck.visibility === "unpublished";
  const canDelete = rules.delete.supported;
  return { ...reads, text, task, deletion, attempts, canDelete, staysUnpublished };
}
