import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import { isOfExternalAccount } from "#src/db/external-accounts.ts";
import type { CommentAction } from "#src/engagement/domain/comment-action.ts";
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
      from comment_actions t
      where t.id in ${tx(ids)}
      order by t.id
      for update of t`,
    readClock(tx),
  ]);
  return { calls, now };
}

/**
 * Those of another action on the same account of the platform, of whichever workspace, which the
 * platform cannot have created for the given action.
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
    t.platform = ${platform}
    and ${isOfExternalAccount(sql, { accountId, externalAccountId })}`;
  const rows = await sql<{ externalId: string }[]>`
    select external_id
    from comment_actions t
    where external_id in ${sql(externalIds)}
    and ${isOfAccount}
    and id <> ${id}
    union
    select unnest(further_ids) as external_id
    from comment_actions t
    where comment_id = ${commentId}
    and further_ids <> '{}'
    and ${isOfAccount}
    and id <> ${id}`;
  const owned = new Set(rows.map(({ externalId }) => externalId));
  return new Set(externalIds.filter((externalId) => owned.has(externalId)));
}
