import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import {
  startRemovingWorkspaces,
  type WorkspaceRemovalOptions,
} from "@postrider/shared/workspaces/removal-loop";
import { toRemovalPeer } from "@postrider/shared/workspaces/removal-peer";
import { markWorkspaceDeleting } from "#src/db/media-deletion.ts";

/**
 * Media are marked as deleted, and remove-objects deletes their files and then the rows, as for one
 * file. While it may not delete files, the workspace is not removed either.
 */
export function mediaRemoval(sql: Sql): Pick<WorkspaceRemovalOptions, "waitsFor" | "prepare"> {
  return {
    waitsFor: ["media"],
    prepare: async ({ workspaceId }) => {
      await markWorkspaceDeleting(sql, workspaceId);
      return true;
    },
  };
}

export function startRemovingWorkspaceMedia(
  deps: { readonly sql: Sql; readonly logger: Logger },
  calls: Parameters<typeof toRemovalPeer>[1],
): AsyncDisposable {
  const { sql, logger } = deps;
  const peer = toRemovalPeer("media", calls);
  return startRemovingWorkspaces({ sql, logger, ...peer, ...mediaRemoval(sql) });
}
