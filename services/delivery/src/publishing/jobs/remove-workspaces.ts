import type { Sql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { isImporting } from "@postrider/shared/workspaces/import-state";
import {
  startRemovingWorkspaces,
  type WorkspaceRemovalOptions,
} from "@postrider/shared/workspaces/removal-loop";
import { toRemovalPeer } from "@postrider/shared/workspaces/removal-peer";
import {
  endStop,
  hasOpenCalls,
  removeUnnamedRows,
  stopWorkspaces,
} from "#src/publishing/db/workspace-removal.ts";

const ASK_MS = 60_000;

/** Stops workspaces at once, and removes them when no outcome of theirs is open any more. */
export function deliveryRemoval(
  sql: Sql,
): Pick<WorkspaceRemovalOptions, "onAsk" | "onList" | "prepare" | "onFinish"> {
  // Almost always no workspace is stopped, and then the database is asked once a minute: the stop
  // of an import that was shorter than the time between two lists ends then.
  let isAnyStopped = true;
  let asksAt = 0;
  let askedAt: Date | null = null;
  return {
    onAsk: async () => {
      askedAt = isAnyStopped ? await readClock(sql) : null;
    },
    onList: async (workspaces) => {
      const left = workspaces.filter(({ doneServices }) => !doneServices.includes("delivery"));
      if (left.length === 0 && !isAnyStopped && performance.now() < asksAt) return;
      isAnyStopped = await stopWorkspaces(sql, left, askedAt);
      asksAt = performance.now() + ASK_MS;
    },
    prepare: async (workspace) => {
      const { workspaceId } = workspace;
      // Rows of an import that was not released wait for its release: this installation has made no
      // call of theirs.
      if (!(await isImporting(sql, workspaceId)) && (await hasOpenCalls(sql, workspaceId)))
        return false;
      await removeUnnamedRows(sql, workspace);
      return true;
    },
    onFinish: (workspaceId) => endStop(sql, workspaceId),
  };
}

export function startRemovingWorkspaceTargets(
  { sql, logger }: { readonly sql: Sql; readonly logger: Logger },
  calls: Parameters<typeof toRemovalPeer>[1],
): AsyncDisposable {
  const peer = toRemovalPeer("delivery", calls);
  return startRemovingWorkspaces({ sql, logger, ...peer, ...deliveryRemoval(sql) });
}
