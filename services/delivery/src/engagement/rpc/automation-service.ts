import type { ConnectRouter } from "@connectrpc/connect";
import { AutomationService } from "@postrider/contracts/engagement/v1/automation_service_pb";
import { serveMethods } from "@postrider/shared/connect/methods";
import type { AutomationRpcDeps } from "#src/engagement/operations/automation-rpc-dependencies.ts";
import { createAutomationRule } from "./create-automation-rule.ts";
import { createBackfill } from "./create-backfill.ts";
import { getBackfill } from "./get-backfill.ts";
import { listAutomationRules } from "./list-automation-rules.ts";
import { listAutomationRuns } from "./list-automation-runs.ts";
import { listBackfills } from "./list-backfills.ts";
import { previewBackfill } from "./preview-backfill.ts";
import { updateAutomationRule } from "./update-automation-rule.ts";
import { updateBackfill } from "./update-backfill.ts";

export function createAutomationRoutes(deps: AutomationRpcDeps): (router: ConnectRouter) => void {
  return (router) => {
    serveMethods(router, deps, AutomationService, {
      listAutomationRules,
      createAutomationRule,
      updateAutomationRule,
      listAutomationRuns,
      previewBackfill,
      listBackfills,
      createBackfill,
      getBackfill,
      updateBackfill,
    });
  };
}
