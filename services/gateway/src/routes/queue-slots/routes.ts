import type { QueueSlotRule as Rule } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { ref } from "@postrider/rest/schemas";
import { toInstant, toOptionalInstant } from "@postrider/rest/timestamps";
import { ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import {
  CreateQueueSlotRule,
  QueueSlotRule,
  QueueSlotRuleList,
  UpdateQueueSlotRule,
} from "#src/routes/queue-slots/schemas.ts";
import { callerOf, pathId, readIdempotency } from "#src/routes/request.ts";
import { IDEMPOTENCY_HEADERS, IdParams, NoQuery, REPLAYED_HEADER } from "#src/routes/schemas.ts";

/** Returns the fields of a new queue slot rule. A date of null means the same as an absent date. */
function fromNewRule(body: Static<typeof CreateQueueSlotRule>) {
  const { startsOn, endsOn, ...rest } = body;
  return {
    ...rest,
    ...defined({ startsOn: startsOn ?? undefined, endsOn: endsOn ?? undefined }),
  };
}

/**
 * Returns the fields of a queue slot rule to change. A date is removed by null in the API, and by
 * an empty text in the RPC.
 */
function fromRuleChanges(body: Static<typeof UpdateQueueSlotRule>) {
  const { startsOn, endsOn, ...rest } = body;
  return defined({
    ...rest,
    startsOn: startsOn === null ? "" : startsOn,
    endsOn: endsOn === null ? "" : endsOn,
  });
}

function toQueueSlotRule(rule: Rule) {
  const { id, name, weekdays, times, timezone, status } = rule;
  return {
    id,
    name,
    weekdays,
    times,
    timezone,
    startsOn: rule.startsOn ?? null,
    endsOn: rule.endsOn ?? null,
    status,
    nextSlots: rule.nextSlots.map(toInstant),
    createdAt: toOptionalInstant(rule.createdAt),
    updatedAt: toOptionalInstant(rule.updatedAt),
  };
}

type Deps = Pick<ServerDeps, "queueSlots">;
type Params = Static<typeof IdParams>;
type CreateBody = Static<typeof CreateQueueSlotRule>;
type UpdateBody = Static<typeof UpdateQueueSlotRule>;

export function registerQueueSlots(api: FastifyInstance, deps: Deps): void {
  registerList(api, deps);
  registerCreate(api, deps);
  registerUpdate(api, deps);
  registerDelete(api, deps);
}

/**
 * Returns the queue slot rule in an answer of the posts service.
 *
 * @throws `internal` for an answer without a rule, which is an error of the posts service, not of
 *   the client.
 */
function requireRule(rule: Rule | undefined) {
  if (rule === undefined) throw new ServiceError("internal", "internal");
  return toQueueSlotRule(rule);
}

function registerList(api: FastifyInstance, { queueSlots }: Deps): void {
  const list = operation({
    operationId: "listQueueSlotRules",
    summary: "List the recurring queue slot rules",
    tags: ["queue-slots"],
    scope: "posts:read",
    querystring: NoQuery,
    response: { 200: { description: "All rules.", body: QueueSlotRuleList } },
  });
  api.get("/queue-slots", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const { rules } = await queueSlots.listQueueSlotRules({ workspaceId });
    return { rules: rules.map(toQueueSlotRule) };
  });
}

function registerCreate(api: FastifyInstance, { queueSlots }: Deps): void {
  const create = operation({
    operationId: "createQueueSlotRule",
    summary: "Create a recurring queue slot rule",
    tags: ["queue-slots"],
    scope: "posts:write",
    querystring: NoQuery,
    headers: IDEMPOTENCY_HEADERS,
    body: ref(CreateQueueSlotRule),
    errors: ["validation_failed"],
    response: { 201: { description: "The rule.", body: QueueSlotRule, headers: REPLAYED_HEADER } },
  });
  api.post<{ Body: CreateBody }>("/queue-slots", create, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const idempotency = readIdempotency(request);
    const answer = await queueSlots.createQueueSlotRule({
      workspaceId,
      ...fromNewRule(request.body),
      ...(idempotency === undefined ? {} : { idempotency }),
    });
    const rule = requireRule(answer.rule);
    if (answer.replayed) reply.header("idempotent-replayed", "true");
    reply.status(201);
    return rule;
  });
}

function registerUpdate(api: FastifyInstance, { queueSlots }: Deps): void {
  const update = operation({
    operationId: "updateQueueSlotRule",
    summary: "Change, pause or resume a queue slot rule",
    description: "Posts that are already scheduled keep their time.",
    tags: ["queue-slots"],
    scope: "posts:write",
    params: IdParams,
    querystring: NoQuery,
    body: ref(UpdateQueueSlotRule),
    response: { 200: { description: "The rule as it is now.", body: QueueSlotRule } },
  });
  api.patch<{ Params: Params; Body: UpdateBody }>("/queue-slots/:id", update, async (request) => {
    const { workspaceId } = callerOf(request);
    const id = pathId(request);
    const changes = fromRuleChanges(request.body);
    const { rule } = await queueSlots.updateQueueSlotRule({ workspaceId, id, ...changes });
    return requireRule(rule);
  });
}

function registerDelete(api: FastifyInstance, { queueSlots }: Deps): void {
  const remove = operation({
    operationId: "deleteQueueSlotRule",
    summary: "Delete a queue slot rule",
    description: "Posts that are already scheduled keep their time.",
    tags: ["queue-slots"],
    scope: "posts:write",
    params: IdParams,
    querystring: NoQuery,
    response: { 204: { description: "The rule is deleted." } },
  });
  api.delete<{ Params: Params }>("/queue-slots/:id", remove, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    await queueSlots.deleteQueueSlotRule({ workspaceId, id: pathId(request) });
    return reply.status(204).send();
  });
}
