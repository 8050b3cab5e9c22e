import { startDeploymentWatch } from "@postrider/shared/deployment/guard";
import type { Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { StoreGuard } from "#src/operations/store-guard.ts";

/**
 * So a new store is marked before it is filled, and a copy is reported even while nothing has to be
 * deleted.
 */
export function startWatchDeployment(guard: StoreGuard, logger: Logger): Loop {
  return startDeploymentWatch(guard.data, logger, async () => {
    await guard.mayDelete();
  });
}
