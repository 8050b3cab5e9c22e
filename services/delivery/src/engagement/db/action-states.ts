import { isUniqueViolation, type ISql, type TransactionSql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import type { CommentAction, HeldAction } from "#src/engagement/domain/comment-action.ts";
import { actionColumns } from "./comment-actions.ts";

/** Locks actions. `now` is the database's time after the locks were granted. */
export async function lockActions(
  tx: TransactionSql,
  ids: readonly string[],
): Promise<{ readonly calls: readonly CommentAction[]; readonly now: Date }> {
  // Actions are locked in the order of their ids, so that two transactions cannot deadlock.
  const [calls, now] = await Promise.all([
    tx<CommentAction[]>`
      select ${actionColumns(tx)}
      from comment_actions a
      where a.id in ${tx(ids)}
      order by a.id
      for update of a`,
    readClock(tx),
  ]);
  return { calls, now };
}

function toRow(action: CommentAction) {
  return {
    id: action.id,
    status: action.status,
    wake_at: action.wakeAt.toISOString(),
    crash_count: action.crashCount,
    retry_count: action.retryCount,
    first_unknown_at: action.firstUnknownAt?.toISOString() ?? null,
    unknown_count: action.unknownCount,
    open_unknowns: action.openUnknowns,
    resend_count: action.resendCount,
    looks: action.looks,
    is_limited: action.isLimited,
    is_restored: action.isRestored,
    call_until: action.callUntil?.toISOString() ?? null,
    version: action.version,
    external_id: action.externalId,
    further_ids: action.furtherIds,
    error_code: action.errorCode,
    error_message: action.errorMessage,
    finished_at: action.finishedAt?.toISOString() ?? null,
  };
}

/** Writes the new states of locked actions. */
export async function updateActions(
  tx: TransactionSql,
  actions: readonly CommentAction[],
): Promise<void> {
  await tx`
    update comment_actions a
    set status = k.status,
      wake_at = k.wake_at,
      crash_count = k.crash_count,
      retry_count = k.retry_count,
      first_unknown_at = k.first_unknown_at,
      unknown_count = k.unknown_count,
      open_unknowns = k.open_unknowns,
      resend_count = k.resend_count,
      looks = k.looks,
      is_limited = k.is_limited,
      is_restored = k.is_restored,
      call_until = k.call_until,
      version = k.version,
      external_id = k.external_id,
      further_ids = k.further_ids,
      error_code = k.error_code,
      error_message = k.error_message,
      finished_at = k.finished_at
    from jsonb_to_recordset(${tx.json(actions.map(toRow))}) as k(
      id uuid, status text, wake_at timestamptz, crash_count int, retry_count int, first_unknown_at timestamptz,
      unknown_count int, open_unknowns int, resend_count int, looks int, is_limited boolean, is_restored boolean,
      call_until timestamptz, version bigint, external_id text, further_ids text[], error_code text, error_message text, finished_at timestamptz
    )
    where a.id = k.id`;
}

/**
 * Records the account of the platform of an action whose platform is about to be searched, because an earlier release or a
 * restore left the action without it. From then on, no call on the comment that a search could not tell apart can begin.
 *
 * @returns `busy` if such a call is open already, of another workspace. `lost` if another worker has claimed the action.
 */
export async function recordExternalAccount(
  sql: ISql,
  { id, fence }: HeldAction,
  externalAccountId: string,
): Promise<"recorded" | "busy" | "lost"> {
  try {
    const { count } = await sql`
      update comment_actions
      set external_account_id = ${externalAccountId}
      where id = ${id}
      and fence = ${fence}
      and status = 'reconciling'`;
    return count === 0 ? "lost" : "recorded";
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return "busy";
  }
}

/**
 * Returns those of the given ids of replies or messages that belong to another action on the same account of the platform, of
 * whichever workspace, so that the platform cannot have created them for the given action. An action of an earlier release, which
 * did not record the account of the platform, owns its ids on all accounts: the platforms give no id twice.
 */
export async function findOwnedReplies(
  sql: ISql,
  {
    id,
    platform,
    accountId,
    commentId,
  }: Pick<CommentAction, "id" | "platform" | "accountId" | "commentId">,
  externalAccountId: string,
  externalIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (externalIds.length === 0) return new Set();
  const isOfAccount = sql`
    platform = ${platform}
    and (account_id = ${accountId} or coalesce(external_account_id, ${externalAccountId}) = ${externalAccountId})`;
  const rows = await sql<{ externalId: string }[]>`
    select external_id
    from comment_actions
    where external_id in ${sql(externalIds)}
    and ${isOfAccount}
    and id <> ${id}
    union
    select unnest(further_ids) as external_id
    from comment_actions
    where comment_id = ${commentId}
    and further_ids <> '{}'
    and ${isOfAccount}
    and id <> ${id}`;
  const owned = new Set(rows.map(({ externalId }) => externalId));
  return new Set(externalIds.filter((externalId) => owned.has(externalId)));
}
