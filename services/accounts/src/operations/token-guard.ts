import { DeploymentGuard } from "@postrider/shared/deployment/guard";
import { readOwnership } from "@postrider/shared/deployment/table";
import { createGauge } from "@postrider/shared/telemetry/metrics";
import type { Dependencies } from "#src/operations/dependencies.ts";

const heldGauge = createGauge(
  "accounts_tokens_held",
  "1 while tokens are neither refreshed nor revoked because the data belongs to another database or deployment.",
);

/**
 * Creates the guard that reports in a metric and in the log whether the database is a copy of
 * another deployment's database. Token refreshes do not depend on it: their SQL statements check
 * the deployment themselves.
 */
export function createTokenGuard({
  sql,
  logger,
  deploymentId,
}: Pick<Dependencies, "sql" | "logger" | "deploymentId">): DeploymentGuard {
  return new DeploymentGuard({
    activity: "token refresh",
    heldGauge,
    readOwnership: () => readOwnership(sql, deploymentId),
    logger,
  });
}
