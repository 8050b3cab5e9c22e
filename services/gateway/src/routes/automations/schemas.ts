import { AutomationRun } from "@postrider/rest/automations/schemas";
import { BACKFILL_SCHEMAS } from "#src/routes/automations/backfill-schemas.ts";
import {
  AutomationRule,
  AutomationRuleList,
  CreateAutomationRule,
  UpdateAutomationRule,
} from "#src/routes/automations/rule-schemas.ts";
import { AutomationRunList } from "#src/routes/automations/run-schemas.ts";

/** Schemas of operations on automations that the API description lists by name. */
export const AUTOMATION_SCHEMAS = [
  AutomationRule,
  AutomationRuleList,
  CreateAutomationRule,
  UpdateAutomationRule,
  AutomationRun,
  AutomationRunList,
  ...BACKFILL_SCHEMAS,
];
