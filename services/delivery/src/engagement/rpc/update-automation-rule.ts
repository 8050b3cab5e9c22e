import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateAutomationRuleRequest,
  UpdateAutomationRuleResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { conflict, invalidRequest, notFound } from "@postrider/shared/errors";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { lockAccount, pollNow } from "#src/engagement/db/automation-accounts.ts";
import { findRule, updateRule } from "#src/engagement/db/automation-rules.ts";
import {
  changeRule,
  type AutomationRule,
  type RuleChange,
  type RuleStatus,
} from "#src/engagement/domain/automation-rule.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/dependencies.ts";
import { auditRuleChange } from "#src/engagement/operations/rule-audit.ts";
import { assertIds, assertRule, isMatchMode } from "./parse-automation-rule.ts";
import { toAutomationRule } from "./to-automation-rule.ts";

const STATUSES: readonly RuleStatus[] = ["draft", "active", "paused", "revoked"];

export async function updateAutomationRule(
  { sql, nudgePolls }: Pick<AutomationRpcDeps, "sql" | "nudgePolls">,
  request: UpdateAutomationRuleRequest,
): Promise<MessageInitShape<typeof UpdateAutomationRuleResponseSchema>> {
  const { workspaceId, ruleId } = request;
  assertIds(workspaceId, ruleId);
  const change = parseChange(request);
  const { rule, isActivated } = await beginInTurn(sql, workspaceId, async (tx) => {
    const found = await findRule(tx, workspaceId, ruleId);
    if (found === undefined) throw notFound();
    if (Object.keys(change).length === 0) throw invalidRequest();
    // While the account is locked, no run is stored, so each run is from before or after the
    // change. The automation rule is read again, because it may have changed before the lock was
    // granted.
    const now = await lockAccount(tx, found);
    const known = (await findRule(tx, workspaceId, ruleId)) ?? found;
    const changed = changeRule(known, change, now);
    if (changed.kind === "invalid_transition") throw conflict("invalid_transition");
    if (changed.kind === "unchanged") return { rule: known, isActivated: false };
    const wasActive = known.status === "active";
    const isActive = changed.rule.status === "active";
    await updateRule(tx, changed.rule, { isStopped: wasActive && !isActive });
    if (isActive && !wasActive) await pollNow(tx, known.accountId);
    await appendAudit(tx, [auditRuleChange(known, changed.rule)]);
    return { rule: changed.rule, isActivated: isActive && !wasActive };
  });
  if (isActivated) nudgePolls();
  return { rule: toAutomationRule(rule) };
}

function parseChange(request: UpdateAutomationRuleRequest): RuleChange {
  const { name, media, allMedia, match, message, status } = request;
  const mediaIds = allMedia ? null : media?.ids;
  const keywords = request.keywords?.words;
  const excludeKeywords = request.excludeKeywords?.words;
  const fields = { name, mediaIds, keywords, match, excludeKeywords, message };
  assertRule(fields);
  const wanted = STATUSES.find((each) => each === status);
  if (status !== undefined && wanted === undefined)
    throw invalidRequest([{ code: "invalid", path: "/status" }]);
  return withoutUndefined({
    ...fields,
    match: match !== undefined && isMatchMode(match) ? match : undefined,
    status: wanted,
  });
}

type Wanted = {
  readonly [K in keyof RuleChange]: AutomationRule[K & keyof AutomationRule] | undefined;
};

function withoutUndefined(wanted: Wanted): RuleChange {
  const sent = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return Object.fromEntries(sent) as RuleChange;
}
