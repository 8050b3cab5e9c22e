import { compareDeployments } from "@postrider/shared/deployment/ownership";
import type { Sql } from "@postrider/shared/postgres";
import { findDeployment } from "#src/publishing/db/deployment.ts";
import { listHolds } from "#src/publishing/db/holds.ts";
import type { Holds } from "#src/publishing/domain/waits.ts";

/** What holds publications of accounts of a workspace back. */
export async function readHolds(
  { sql, deploymentId }: { readonly sql: Sql; readonly deploymentId: string },
  workspaceId: string,
  accountIds: readonly string[],
): Promise<Holds> {
  const [found, holds] = await Promise.all([
    findDeployment(sql, deploymentId),
    listHolds(sql, { workspaceId, accountIds }),
  ]);
  const isDeploymentHeld =
    found !== undefined && compareDeployments(found.stored, found.current).kind === "foreign";
  return { ...holds, isDeploymentHeld };
}
