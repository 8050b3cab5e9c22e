import type { AuditEntry } from "@postrider/shared/audit/append";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";

export function toRuleAudit(
  action: "automation_rule.create" | "automation_rule.update" | "automation_rule.revoke",
  { id, workspaceId }: Pick<AutomationRule, "id" | "workspaceId">,
  details: AuditEntry["details"] = {},
): AuditEntry {
  return { action, subject: { type: "automation_rule", id }, workspaceId, details };
}

/** Names the changed fields, without the keywords and the message. */
export function auditRuleChange(before: AutomationRule, after: AutomationRule): AuditEntry {
  const isChanged = (field: keyof AutomationRule) =>
    JSON.stringify(before[field]) !== JSON.stringify(after[field]);
  const fields = ["name", "mediaIds", "keywords", "match", "excludeKeywords", "message"] as const;
  const action = after.status === "revoked" ? "automation_rule.revoke" : "automation_rule.update";
  return toRuleAudit(action, after, {
    changed: fields.filter(isChanged),
    ...(before.status === after.status ? {} : { before: before.status, after: after.status }),
  });
}
