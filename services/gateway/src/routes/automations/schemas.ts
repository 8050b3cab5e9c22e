import { AutomationRun, RunStatus } from "@postrider/rest/automations/schemas";
import { nullable, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";
import { BACKFILL_SCHEMAS } from "#src/routes/automations/backfill-schemas.ts";
import { PAGE, RuleId } from "#src/routes/automations/page.ts";
import {
  AutomationRule,
  AutomationRuleList,
  CreateAutomationRule,
  UpdateAutomationRule,
} from "#src/routes/automations/rule-schemas.ts";

export const AutomationRunList = Type.Object(
  { runs: Type.Array(ref(AutomationRun)), nextCursor: nullable(Type.String()) },
  { $id: "AutomationRunList" },
);

export const ListAutomationRunsQuery = Type.Object(
  { ...PAGE, ruleId: Type.Optional(RuleId), status: Type.Optional(RunStatus) },
  { additionalProperties: false },
);

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
