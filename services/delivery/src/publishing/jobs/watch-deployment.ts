import { startDeploymentWatch, type DeploymentGuard } from "@postrider/shared/deployment/guard";
import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { touchDeployment } from "#src/publishing/db/deployment.ts";
import { releaseTrustedDoubts } from "#src/publishing/operations/release-trusted-doubts.ts";

/**
 * Records regularly that the database is in use, so that a restore from a backup can be detected
 * later. While the data belongs to another deployment of Postrider, it logs that and reports it in
 * a metric. Corrects the targets whose outcome is uncertain because of a restore that an operator
 * later declared lossless.
 */
export function startWatchDeployment(options: {
  readonly guard: DeploymentGuard;
  readonly sql: Sql;
  readonly logger: Logger;
  readonly onEvents: () => void;
}): AsyncDisposable {
  const { guard, sql, logger } = options;
  return startDeploymentWatch(guard, logger, async () => {
    await touchDeployment(sql);
    await releaseTrustedDoubts(options);
  });
}
