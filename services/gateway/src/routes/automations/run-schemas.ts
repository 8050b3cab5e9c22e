import { AutomationRun, RunStatus } from "@postrider/rest/automations/schemas";
import { nullable, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";
import { PAGE, RuleId } from "#src/routes/automations/page.ts";

export const AutomationRunList = Type.Object(
  { runs: Type.Array(ref(AutomationRun)), nextCursor: nullable(Type.String()) },
  { $id: "AutomationRunList" },
);

export const ListAutomationRunsQuery = Type.Object(
  { ...PAGE, ruleId: Type.Optional(RuleId), status: Type.Optional(RunStatus) },
  { additionalProperties: false },
);
