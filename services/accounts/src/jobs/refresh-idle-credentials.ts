import { startLoop } from "@postrider/shared/process/loop";
import { claimIdleCredentials, type IdleCredential } from "#src/db/credential-refreshes.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

type IdleRefreshDependencies = Pick<
  Dependencies,
  "sql" | "logger" | "deploymentId" | "refreshTokens"
>;

const BATCH_SIZE = 20;
const CHECK_INTERVAL_MS = 60_000;

/**
 * Refreshes one batch of unused credentials before their refresh tokens expire. They expire only
 * weeks later, so the calls for a workspace are made one after the other.
 *
 * @param stop Once aborted, no further refresh begins: many refresh tokens work once, and one whose
 *   answer comes after the end of the process is lost. What was claimed is due again in an hour.
 * @returns Whether more credentials may be due for a refresh.
 */
export async function refreshIdleBatch(
  { sql, logger, deploymentId, refreshTokens }: IdleRefreshDependencies,
  stop?: AbortSignal,
): Promise<boolean> {
  const claimed = await claimIdleCredentials(sql, { limit: BATCH_SIZE, deploymentId });
  const refreshInTurn = async (own: readonly IdleCredential[]): Promise<void> => {
    for (const credential of own) {
      if (stop?.aborted === true) return;
      const { accountId, platform } = credential;
      try {
        await refreshTokens(credential);
      } catch (error) {
        logger.warn(
          { err: error, accountId, platform },
          "the tokens of an account that no post has used for a long time could not be refreshed; the refresh is tried again in an hour",
        );
      }
    }
  };
  const byWorkspace = Map.groupBy(claimed, ({ workspaceId }) => workspaceId);
  await Promise.all([...byWorkspace.values()].map(refreshInTurn));
  return claimed.length === BATCH_SIZE;
}

/**
 * Refreshes the tokens of accounts that publish nothing for weeks: unused refresh tokens expire, on
 * Instagram after 60 days and on Bluesky after 90. Any number of replicas may run this job.
 */
export function startRefreshIdleCredentials(deps: IdleRefreshDependencies): AsyncDisposable {
  const stop = new AbortController();
  const loop = startLoop({
    idleMs: CHECK_INTERVAL_MS,
    work: () => refreshIdleBatch(deps, stop.signal),
    onError: (error) =>
      deps.logger.error(
        { err: error },
        "the list of unused accounts whose tokens need a refresh could not be read from the database; the job tries again",
      ),
  });
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await loop[Symbol.asyncDispose]();
    },
  };
}
