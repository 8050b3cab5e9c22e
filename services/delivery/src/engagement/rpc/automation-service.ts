import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { AutomationService } from "@postrider/contracts/engagement/v1/automation_service_pb";
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
    router.service(AutomationService, {
      listAutomationRules: (request) => listAutomationRules(deps, request),
      createAutomationRule: (request) => createAutomationRule(deps, request),
      updateAutomationRule: (request) => updateAutomationRule(deps, request),
      listAutomationRuns: (request) => listAutomationRuns(deps, request),
      previewBackfill: (request) => previewBackfill(deps, request),
      listBackfills: (request) => listBackfills(deps, request),
      createBackfill: (request) => createBackfill(deps, request),
      getBackfill: (request) => getBackfill(deps, request),
      updateBackfill: (request) => updateBackfill(deps, request),
    } satisfies ServiceImpl<typeof AutomationService>);
  };
}
