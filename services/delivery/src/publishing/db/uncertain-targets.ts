import type { ISql } from "@postrider/shared/postgres";
import type { TaskKey } from "#src/publishing/domain/task.ts";
import type { ExternalAccount } from "./attempts.ts";
import { isDoubtful } from "./deployment.ts";

/** Of another target on the same account of the platform, of whichever workspace. */
export interface UncertainTask extends TaskKey {
  readonly workspaceId: string;
}

/** Those that may have published a post although the data does not say so. */
export async function listUncertainTasks(
  sql: ISql,
  targetId: string,
  { platform, accountId, externalAccountId }: ExternalAccount,
  limit: number,
): Promise<readonly UncertainTask[]> {
  return await sql<UncertainTask[]>`
    select t.workspace_id, t.target_id, t.generation
    from publish_tasks t
    cross join deployment d
    where (t.account_id = ${accountId} or t.platform = ${platform} and t.external_account_id = ${externalAccountId})
    and t.target_id <> ${targetId}
    -- No other post has the text of a live check.
    and t.target_id <> t.post_id
    -- The next condition implies this one, with which Postgres reads only the unfinished targets of the account.
    and t.status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
    and (
      t.status in ('calling', 'unknown', 'reconciling')
      or (t.status in ('queued', 'working') and ${isDoubtful(sql)})
    )
    limit ${limit}`;
}
