import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { ISql } from "@postrider/shared/postgres";
import { findRule } from "#src/engagement/db/automation-rules.ts";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import { isMediaId } from "#src/engagement/domain/text-limits.ts";

/** @throws `not_found` for an unknown or revoked rule, and for a malformed id of media. */
export async function getLiveRule(
  sql: ISql,
  request: { readonly workspaceId: string; readonly ruleId: string; readonly mediaId: string },
): Promise<AutomationRule> {
  const { workspaceId, ruleId, mediaId } = request;
  if (!isId(workspaceId) || !isId(ruleId) || !isMediaId(mediaId)) throw notFound();
  const rule = await findRule(sql, workspaceId, ruleId);
  if (rule === undefined || rule.status === "revoked") throw notFound();
  return rule;
}
