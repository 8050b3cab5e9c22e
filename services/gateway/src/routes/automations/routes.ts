import { toAutomationRun } from "@postrider/rest/automations/mapping";
import { ref } from "@postrider/rest/schemas";
import { invalidRequest } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import { required } from "#src/routes/answer.ts";
import { registerBackfillRoutes } from "#src/routes/automations/backfill-routes.ts";
import { fromNewRule, fromRuleChanges, toAutomationRule } from "#src/routes/automations/mapping.ts";
import { PAGE_BYTES } from "#src/routes/automations/page.ts";
import {
  AutomationRule,
  AutomationRuleList,
  CreateAutomationRule,
  ListAutomationRulesQuery,
  MAX_MESSAGE_BYTES,
  UpdateAutomationRule,
} from "#src/routes/automations/rule-schemas.ts";
import { AutomationRunList, ListAutomationRunsQuery } from "#src/routes/automations/schemas.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { callerOf, pathId, readIdempotency } from "#src/routes/request.ts";
import { CREATED_HEADERS, IDEMPOTENCY_HEADERS, IdParams, NoQuery } from "#src/routes/schemas.ts";

type Deps = Pick<ServerDeps, "automations">;

const PATH = "/automations/partner-dm-rules";
const TAGS = ["automations"];

function registerRuleRoutes(api: FastifyInstance, deps: Deps): void {
  registerList(api, deps);
  registerCreate(api, deps);
  registerUpdate(api, deps);
}

/**
 * Refuses the text of a private reply with more than 1,000 bytes. The schema limits it to 1,000
 * characters, each of which can have several bytes.
 */
function checkMessage(message = ""): void {
  const actual = Buffer.byteLength(message);
  if (actual <= MAX_MESSAGE_BYTES) return;
  const violation = { code: "too_many_bytes", path: "/message", limit: MAX_MESSAGE_BYTES, actual };
  throw invalidRequest([violation]);
}

function registerList(api: FastifyInstance, { automations }: Deps): void {
  const list = operation({
    operationId: "listAutomationRules",
    summary: "List automation rules, newest first",
    description: "Without revoked rules.",
    tags: TAGS,
    scope: "automations:read",
    answerBytes: PAGE_BYTES,
    querystring: ListAutomationRulesQuery,
    response: { 200: { description: "A page of rules.", body: AutomationRuleList } },
  });
  type Route = { Querystring: Static<typeof ListAutomationRulesQuery> };
  api.get<Route>(PATH, list, async (request) => {
    const { workspaceId } = callerOf(request);
    const page = await automations.listAutomationRules({ workspaceId, ...defined(request.query) });
    return { rules: page.rules.map(toAutomationRule), nextCursor: page.nextCursor ?? null };
  });
}

function registerCreate(api: FastifyInstance, { automations }: Deps): void {
  const create = operation({
    operationId: "createAutomationRule",
    summary: "Create a draft rule that answers comments with a private reply",
    description:
      "A draft does nothing until its status is set to `active`. An account of a platform without automations is `validation_failed` with the detail `platform_unsupported`.",
    tags: TAGS,
    scope: "automations:write",
    querystring: NoQuery,
    headers: IDEMPOTENCY_HEADERS,
    body: ref(CreateAutomationRule),
    errors: ["not_found", "validation_failed"],
    response: { 201: { description: "The rule.", body: AutomationRule, headers: CREATED_HEADERS } },
  });
  type Route = { Body: Static<typeof CreateAutomationRule> };
  api.post<Route>(PATH, create, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    checkMessage(request.body.message);
    const idempotency = readIdempotency(request);
    const answer = await automations.createAutomationRule({
      workspaceId,
      ...fromNewRule(request.body),
      ...defined({ idempotency }),
    });
    const rule = toAutomationRule(required(answer.rule));
    if (answer.replayed) reply.header("idempotent-replayed", "true");
    reply.status(201).header("location", `/api/v1${PATH}/${rule.id}`);
    return rule;
  });
}

function registerUpdate(api: FastifyInstance, { automations }: Deps): void {
  const update = operation({
    operationId: "updateAutomationRule",
    summary: "Change, activate, pause or revoke an automation rule",
    description:
      "Comments that are older than the activation get no private reply. Pausing and revoking stop private replies that are not sent yet. A revoked rule can no longer be changed.",
    tags: TAGS,
    scope: "automations:write",
    params: IdParams,
    querystring: NoQuery,
    body: ref(UpdateAutomationRule),
    errors: ["invalid_transition"],
    response: { 200: { description: "The rule as it is now.", body: AutomationRule } },
  });
  type Route = { Params: Static<typeof IdParams>; Body: Static<typeof UpdateAutomationRule> };
  api.patch<Route>(`${PATH}/:id`, update, async (request) => {
    const { workspaceId } = callerOf(request);
    checkMessage(request.body.message);
    const ruleId = pathId(request);
    const changes = fromRuleChanges(request.body);
    const { rule } = await automations.updateAutomationRule({ workspaceId, ruleId, ...changes });
    return toAutomationRule(required(rule));
  });
}

/** Registers the route that lists automation runs, each the result of a rule for one comment. */
function registerRunRoutes(
  api: FastifyInstance,
  { automations }: Pick<ServerDeps, "automations">,
): void {
  const list = operation({
    operationId: "listAutomationRuns",
    summary: "List what became of comments under automation rules, newest first",
    description:
      "Filters can be combined. A comment that does not match a rule has no run. Unless the operator has enabled sending, runs end as `prepared` with the reason `sending_blocked`.",
    tags: ["automations"],
    scope: "automations:read",
    querystring: ListAutomationRunsQuery,
    errors: ["not_found"],
    response: { 200: { description: "A page of runs.", body: AutomationRunList } },
  });
  type Route = { Querystring: Static<typeof ListAutomationRunsQuery> };
  api.get<Route>("/automations/partner-dm-runs", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const query = defined(request.query);
    const page = await automations.listAutomationRuns({ workspaceId, ...query });
    return { runs: page.runs.map(toAutomationRun), nextCursor: page.nextCursor ?? null };
  });
}

/** Registers the operations on automations: automation rules, their runs, and backfill jobs. */
export function registerAutomations(
  api: FastifyInstance,
  deps: Pick<ServerDeps, "automations">,
): void {
  registerRuleRoutes(api, deps);
  registerRunRoutes(api, deps);
  registerBackfillRoutes(api, deps);
}
