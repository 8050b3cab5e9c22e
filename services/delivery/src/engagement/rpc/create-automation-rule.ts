import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  AutomationRuleSchema,
  type CreateAutomationRuleRequest,
  type CreateAutomationRuleResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { appendAudit } from "@postrider/shared/audit/append";
import { notFound, ServiceError, unprocessable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { readClock } from "@postrider/shared/postgres/clock";
import { findReplay, takeKeyOrReplay } from "@postrider/shared/postgres/idempotency";
import { findConnectedAccount } from "#src/clients/accounts.ts";
import { countNewRules, insertRule, lockRuleCount } from "#src/engagement/db/automation-rules.ts";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/dependencies.ts";
import { toRuleAudit } from "#src/engagement/operations/rule-audit.ts";
import { toKeyed } from "#src/engagement/operations/to-keyed.ts";
import { assertIds, assertRule, isMatchMode } from "./parse-automation-rule.ts";
import { toAutomationRule } from "./to-automation-rule.ts";

const MAX_RULES_PER_WORKSPACE = 100;
/** Also revoked ones: a response is stored for a day under its key, with up to 250 kB. */
const MAX_RULES_PER_DAY = 1_000;
const LIMITED_RETRY_MS = 3_600_000;

type Response = MessageInitShape<typeof CreateAutomationRuleResponseSchema>;

/** A draft does nothing until it is activated. */
export async function createAutomationRule(
  deps: AutomationRpcDeps,
  request: CreateAutomationRuleRequest,
): Promise<Response> {
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

  return await beginInTurn(deps.sql, workspaceId, async (tx): Promise<Response> => {
    const row = toRow(request, platform, await readClock(tx));
    const rule = create(AutomationRuleSchema, toAutomationRule(row));
    if (keyed !== undefined) {
      const replay = await takeKeyOrReplay(tx, keyed, toBinary(AutomationRuleSchema, rule));
      if (replay !== undefined) return toReplay(replay);
    }
    const count = await lockRuleCount(tx, workspaceId);
    if (count >= MAX_RULES_PER_WORKSPACE) throw tooMany(count);
    if ((await countNewRules(tx, workspaceId, MAX_RULES_PER_DAY)) >= MAX_RULES_PER_DAY)
      throw new ServiceError("conflict", "rate_limited", [], { retryAfterMs: LIMITED_RETRY_MS });
    await insertRule(tx, row);
    await appendAudit(tx, [toRuleAudit("automation_rule.create", row, { accountId })]);
    return { rule, replayed: false };
  });
}

function toReplay(response: Uint8Array): Response {
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
