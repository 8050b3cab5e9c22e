import { startDeploymentWatch, type DeploymentGuard } from "@postrider/shared/deployment/guard";
import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { touchDeployment } from "#src/publishing/db/deployment.ts";

/** Records that the data is in use, from which a restore is seen later, and reports while it is foreign. */
export function startWatchDeployment(options: {
  readonly guard: DeploymentGuard;
  readonly sql: Sql;
  readonly logger: Logger;
}): AsyncDisposable {
  const { guard, sql, logger } = options;
  return startDeploymentWatch(guard, logger, () => touchDeployment(sql));
}
