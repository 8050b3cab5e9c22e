import { DeploymentGuard } from "@postrider/shared/deployment/guard";
import { compareDeployments, type Ownership } from "@postrider/shared/deployment/ownership";
import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createGauge } from "@postrider/shared/telemetry/metrics";
import {
  findDeployment,
  insertDeployment,
  recordLoss,
  recordRestore,
  type DeploymentRow,
} from "#src/publishing/db/deployment.ts";
import { findRestore, findUnseenLoss } from "#src/publishing/domain/restore.ts";

const heldGauge = createGauge(
  "delivery_publishing_held",
  "1 while nothing is published or deleted because the data belongs to another database or deployment.",
);

interface GuardOptions {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly deploymentId: string;
  /** Leaves it to other processes to record the deployment and its restores. */
  readonly isReadOnly?: boolean;
}

/**
 * Creates the check that decides before each claim whether this process may publish from its data.
 * If the check notices that the data was restored from a backup, it records the restore first.
 */
export function createPublishingGuard(options: GuardOptions): DeploymentGuard {
  return new DeploymentGuard({
    activity: "publishing",
    heldGauge,
    logger: options.logger,
    readOwnership: createOwnershipReader(options),
  });
}

function createOwnershipReader({ sql, logger, deploymentId, isReadOnly = false }: GuardOptions) {
  let remembered: DeploymentRow | undefined;
  return async (): Promise<Ownership> => {
    const found = await findDeployment(sql, deploymentId);
    if (found === undefined) {
      if (!isReadOnly) await insertDeployment(sql, deploymentId);
      return { kind: "own" };
    }
    const { stored, current } = found;
    const ownership = compareDeployments(stored, current);
    if (ownership.kind === "foreign" || isReadOnly) return ownership;
    const reason = findRestore(stored, current, remembered?.seenAt);
    if (reason === undefined) {
      const lossyRestoreAt = remembered && findUnseenLoss(stored, remembered);
      if (lossyRestoreAt !== undefined) await recordLoss(sql, lossyRestoreAt);
      remembered = stored;
      return ownership;
    }
    logger.warn(
      { reason },
      "the data was restored from a backup; Postrider publishes a target that is due before 15 minutes have passed only after searching the platform for its post",
    );
    // What this process read before the restore stays remembered until its next read. It can show
    // that the restore lost commits, even if a process that had read nothing recorded the restore
    // first.
    await recordRestore(sql, deploymentId, remembered?.seenAt);
    return { kind: "restored" };
  };
}
