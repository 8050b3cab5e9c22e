import { deleteRecordsWith } from "@postrider/shared/bus/postgres-log";
import type { Sql } from "@postrider/shared/postgres";
import {
  startRemovingWorkspaces,
  type StoppedWorkspace,
  type WorkspaceRemovalOptions,
} from "@postrider/shared/workspaces/removal-loop";
import { recordRemoval } from "@postrider/shared/workspaces/removed-workspaces";
import { forgetImportedTokens } from "#src/db/workspace-moves.ts";
import {
  deleteKeysOf,
  deleteWorkspace,
  listConnected,
  listRemovals,
  REMOVING_SERVICES,
} from "#src/db/workspace-removals.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { disconnectAndRevoke } from "#src/operations/disconnect.ts";

/** Of accounts that are disconnected at the same time, each with a call to its platform. */
const PAGE_ACCOUNTS = 20;

/** Those that all other services have removed. */
async function listRemovedElsewhere({
  sql,
  settleMs,
}: Dependencies): Promise<readonly StoppedWorkspace[]> {
  const removals = await listRemovals(sql);
  return removals.flatMap(({ removesAt, services, ...removal }) => {
    const doneServices = services.filter(({ isDone }) => isDone).map(({ service }) => service);
    const isLast = REMOVING_SERVICES.every((service) => doneServices.includes(service));
    return removal.isRemoving && isLast
      ? [{ ...removal, isDeleted: removesAt !== null, doneServices, settleMs }]
      : [];
  });
}

/**
 * The platforms are asked to revoke the tokens that are not another cell's; what they answer delays
 * nothing. One page per step: other workspaces and a stop of the process wait for one step at most.
 *
 * @returns Whether no account is left.
 */
async function disconnectPage(deps: Dependencies, workspaceId: string): Promise<boolean> {
  await forgetImportedTokens(deps.sql, workspaceId);
  const page = await listConnected(deps.sql, workspaceId, PAGE_ACCOUNTS);
  await Promise.all(
    page.map(({ accountId }) => disconnectAndRevoke(deps, { workspaceId, accountId })),
  );
  return page.length < PAGE_ACCOUNTS;
}

/**
 * The last step of a deletion. The audit line says what every service removed, and is written in
 * the transaction that removes the workspace itself.
 */
async function finish(sql: Sql, workspaceId: string, rows: number): Promise<boolean> {
  if ((await deleteRecordsWith(sql, workspaceId)) > 0) return false;
  const [removal] = (await listRemovals(sql)).filter((each) => each.workspaceId === workspaceId);
  const removed = Object.fromEntries(
    (removal?.services ?? []).map((each) => [each.service, each.rows]),
  );
  await sql.begin(async (tx) => {
    const details = { removedRows: { ...removed, accounts: rows } };
    if (await deleteWorkspace(tx, workspaceId)) await recordRemoval(tx, workspaceId, details);
  });
  return true;
}

/** How accounts removes a workspace: after all other services, the workspace itself at the end. */
export function removalOptions(deps: Dependencies): WorkspaceRemovalOptions {
  const { sql, logger } = deps;
  return {
    sql,
    logger,
    service: "accounts",
    list: () => listRemovedElsewhere(deps),
    report: () => Promise.resolve(),
    except: ["workspace_removals"],
    prepare: async ({ workspaceId }) => {
      if (!(await disconnectPage(deps, workspaceId))) return "again";
      await deleteKeysOf(sql, workspaceId);
      return true;
    },
    finish: (workspaceId, rows) => finish(sql, workspaceId, rows),
  };
}

export function startRemovingOwnWorkspaces(deps: Dependencies): AsyncDisposable {
  return startRemovingWorkspaces(removalOptions(deps));
}
