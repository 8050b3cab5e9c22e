import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AutomationRuleSchema } from "@postrider/contracts/engagement/v1/automation_service_pb";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";

export function toAutomationRule(
  rule: AutomationRule,
): MessageInitShape<typeof AutomationRuleSchema> {
  const { id, accountId, name, mediaIds, keywords, match, excludeKeywords, message } = rule;
  return {
    id,
    accountId,
    name,
    ...(mediaIds === null ? {} : { media: { ids: [...mediaIds] } }),
    keywords: [...keywords],
    match,
    excludeKeywords: [...excludeKeywords],
    message,
    status: rule.status,
    createdAt: timestampFromDate(rule.createdAt),
    updatedAt: timestampFromDate(rule.updatedAt),
  };
}
