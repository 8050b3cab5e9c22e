import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AutomationRuleSchema,
  type CreateAutomationRuleRequest,
  type CreateAutomationRuleResponseSchema,
  type UpdateAutomationRuleRequest,
  type UpdateAutomationRuleResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { appendAudit, type AuditEntry } from "@postrider/shared/audit/append";
import { conflict, invalidRequest, notFound, unprocessable } from "@postrider/shared/errors";
import { assertIds, newId } from "@postrider/shared/ids";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { readClock } from "@postrider/shared/postgres/clock";
import { findReplay, takeKeyOrReplay } from "@postrider/shared/postgres/idempotency";
import { findConnectedAccount } from "#src/clients/accounts.ts";
import { assertFewNewRows } from "#src/db/new-rows.ts";
import { lockAccount, pollNow } from "#src/engagement/db/automation-accounts.ts";
import {
  findRule,
  insertRule,
  lockRuleCount,
  updateRule,
} from "#src/engagement/db/automation-rules.ts";
import {
  type AutomationRule,
  changeRule,
  MAX_RULES_PER_WORKSPACE,
  type RuleChange,
  type RuleStatus,
} from "#src/engagement/domain/automation-rule.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/dependencies.ts";
import { assertRule, isMatchMode, toKeyed } from "#src/engagement/rpc/parse-automation-request.ts";

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

function toRuleAudit(
  action: "automation_rule.create" | "automation_rule.update" | "automation_rule.revoke",
  { id, workspaceId }: Pick<AutomationRule, "id" | "workspaceId">,
  details: AuditEntry["details"] = {},
): AuditEntry {
  return { action, subject: { type: "automation_rule", id }, workspaceId, details };
}

/** Names the changed fields, without the keywords and the message. */
function auditRuleChange(before: AutomationRule, after: AutomationRule): AuditEntry {
  const isChanged = (field: keyof AutomationRule) =>
    JSON.stringify(before[field]) !== JSON.stringify(after[field]);
  const fields = ["name", "mediaIds", "keywords", "match", "excludeKeywords", "message"] as const;
  const action = after.status === "revoked" ? "automation_rule.revoke" : "automation_rule.update";
  return toRuleAudit(action, after, {
    changed: fields.filter(isChanged),
    ...(before.status === after.status ? {} : { before: before.status, after: after.status }),
  });
}

type CreateResponse = MessageInitShape<typeof CreateAutomationRuleResponseSchema>;

/** A draft does nothing until it is activated. */
export async function createAutomationRule(
  deps: AutomationRpcDeps,
  request: CreateAutomationRuleRequest,
): Promise<CreateResponse> {
  const { workspaceId, accountId } = request;
  assertIds(workspaceId, accountId);
  assertRule({ ...request, match: parseMatch(request), mediaIds: request.media?.ids ?? null });
  const keyed = toKeyed("CreateAutomationRule", request);
  const earlier = keyed === undefined ? undefined : await findReplay(deps.sql, keyed);
  if (earlier !== undefined) return toReplay(earlier);
  const account = await findConnectedAccount(deps.accounts, { workspaceId, accountId });
  if (account === undefined) throw notFound();
  const { platform } = account;
  if (!isPlatformId(platform) || deps.connectors.privateReplies[platform] === undefined)
    throw unprocessable("validation_failed", [
      {
        code: "platform_unsupported",
        path: "/accountId",
        accountId,
        platform,
        allowed: Object.keys(deps.connectors.privateReplies),
      },
    ]);

  return await beginInTurn(deps.sql, workspaceId, async (tx): Promise<CreateResponse> => {
    const row = toRow(request, platform, await readClock(tx));
    const rule = create(AutomationRuleSchema, toAutomationRule(row));
    if (keyed !== undefined) {
      const replay = await takeKeyOrReplay(tx, keyed, toBinary(AutomationRuleSchema, rule));
      if (replay !== undefined) return toReplay(replay);
    }
    const count = await lockRuleCount(tx, workspaceId);
    if (count >= MAX_RULES_PER_WORKSPACE) throw tooMany(count);
    await assertFewNewRows(tx, "automation_rules", workspaceId);
    await insertRule(tx, row);
    await appendAudit(tx, [toRuleAudit("automation_rule.create", row, { accountId })]);
    return { rule, replayed: false };
  });
}

function toReplay(response: Uint8Array): CreateResponse {
  return { rule: fromBinary(AutomationRuleSchema, response), replayed: true };
}

function parseMatch({ match }: CreateAutomationRuleRequest): string {
  return match === "" ? "any" : match;
}

function toRow(request: CreateAutomationRuleRequest, platform: string, now: Date): AutomationRule {
  const { workspaceId, accountId, name, media, keywords, excludeKeywords, message } = request;
  const match = parseMatch(request);
  return {
    id: newId(),
    workspaceId,
    accountId,
    platform,
    name,
    mediaIds: media?.ids ?? null,
    keywords,
    match: isMatchMode(match) ? match : "any",
    excludeKeywords,
    message,
    status: "draft",
    activatedAt: null,
    createdAt: now,
    updatedAt: now,
  };
}

function tooMany(count: number) {
  return unprocessable("validation_failed", [
    { code: "too_many_rules", limit: MAX_RULES_PER_WORKSPACE, actual: count + 1 },
  ]);
}

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
