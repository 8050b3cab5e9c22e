import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type CreateQueueSlotRuleRequest,
  type CreateQueueSlotRuleResponseSchema,
  type DeleteQueueSlotRuleRequest,
  type DeleteQueueSlotRuleResponseSchema,
  type ListQueueSlotRulesRequest,
  type ListQueueSlotRulesResponseSchema,
  type QueueSlotRule,
  QueueSlotRuleSchema,
  type UpdateQueueSlotRuleRequest,
  type UpdateQueueSlotRuleResponseSchema,
} from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { invalidRequest, notFound, unprocessable, type Violation } from "@postrider/shared/errors";
import { assertIds, assertWorkspaceId, isId, newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { type KeyedRequest, takeKeyOrReplay } from "@postrider/shared/postgres/idempotency";
import {
  deleteQueueSlotRuleRow,
  insertQueueSlotRule,
  listQueueSlotRuleRows,
  lockQueueSlotRule,
  lockRuleCount,
  type QueueSlotRuleRow,
  updateQueueSlotRuleRow,
} from "#src/db/queue-slot-rules.ts";
import type { NextSlots } from "#src/domain/next-slots.ts";
import {
  checkSlotTimetable,
  MAX_RULES_PER_WORKSPACE,
  normalizeSlotTimetable,
} from "#src/domain/queue-slot-rule.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { findShownSlots } from "#src/operations/find-free-slots.ts";

function toQueueSlotRule(
  rule: QueueSlotRuleRow,
  nextSlots: NextSlots,
): MessageInitShape<typeof QueueSlotRuleSchema> {
  return {
    id: rule.id,
    name: rule.name,
    weekdays: [...rule.weekdays],
    times: [...rule.times],
    timezone: rule.timezone,
    ...(rule.startsOn === null ? {} : { startsOn: rule.startsOn }),
    ...(rule.endsOn === null ? {} : { endsOn: rule.endsOn }),
    status: rule.status,
    nextSlots: nextSlots.map(timestampFromDate),
    createdAt: timestampFromDate(rule.createdAt),
    updatedAt: timestampFromDate(rule.updatedAt),
  };
}

function assertRule(faults: readonly Violation[]): void {
  if (faults.length > 0) throw invalidRequest(faults);
}

/** An empty text removes the first or last date of the rule. */
function changeRule(
  rule: QueueSlotRuleRow,
  request: UpdateQueueSlotRuleRequest,
  now: Date,
): QueueSlotRuleRow {
  const { name = rule.name, status = rule.status, timezone = rule.timezone } = request;
  const timetable = {
    weekdays: request.weekdays.length > 0 ? request.weekdays : rule.weekdays,
    times: request.times.length > 0 ? request.times : rule.times,
    timezone,
    startsOn: toDate(request.startsOn, rule.startsOn),
    endsOn: toDate(request.endsOn, rule.endsOn),
  };
  assertRule([
    ...(name === "" ? [{ code: "invalid", path: "/name" }] : []),
    ...(status === "active" || status === "paused" ? [] : [{ code: "invalid", path: "/status" }]),
    ...checkSlotTimetable(timetable),
  ]);
  return {
    ...rule,
    ...normalizeSlotTimetable(timetable),
    name,
    status: status === "paused" ? "paused" : "active",
    updatedAt: now,
  };
}

function toDate(sent: string | undefined, known: string | null): string | null {
  if (sent === undefined) return known;
  return sent === "" ? null : sent;
}

export async function listQueueSlotRules(
  { sql, clock }: Pick<PostsDeps, "sql" | "clock">,
  { workspaceId }: ListQueueSlotRulesRequest,
): Promise<MessageInitShape<typeof ListQueueSlotRulesResponseSchema>> {
  assertWorkspaceId(workspaceId);
  const now = await clock();
  const rules = await listQueueSlotRuleRows(sql, workspaceId);
  const slots = await findShownSlots(sql, rules, { workspaceId, now });
  return { rules: rules.map((rule, index) => toQueueSlotRule(rule, slots[index] ?? [])) };
}

type Response = MessageInitShape<typeof CreateQueueSlotRuleResponseSchema>;

export async function createQueueSlotRule(
  { sql, clock }: Pick<PostsDeps, "sql" | "clock">,
  request: CreateQueueSlotRuleRequest,
): Promise<Response> {
  const now = await clock();
  const rule = parse(request, now);
  const { workspaceId } = rule;
  const [slots = []] = await findShownSlots(sql, [rule], { workspaceId, now });
  const message = create(QueueSlotRuleSchema, toQueueSlotRule(rule, slots));
  const outcome = await beginInTurn(sql, workspaceId, (tx) =>
    accept(tx, rule, { message, keyed: toKeyed(request) }),
  );
  return outcome.kind === "replayed"
    ? { rule: fromBinary(QueueSlotRuleSchema, outcome.response), replayed: true }
    : { rule: outcome.rule, replayed: false };
}

function parse(request: CreateQueueSlotRuleRequest, now: Date): QueueSlotRuleRow {
  const { workspaceId, name, weekdays, times, timezone } = request;
  const timetable = {
    weekdays,
    times,
    timezone,
    startsOn: request.startsOn ?? null,
    endsOn: request.endsOn ?? null,
  };
  assertRule([
    ...(isId(workspaceId) ? [] : [{ code: "invalid", path: "/workspaceId" }]),
    ...(name === "" ? [{ code: "invalid", path: "/name" }] : []),
    ...checkSlotTimetable(timetable),
  ]);
  return {
    ...normalizeSlotTimetable(timetable),
    id: newId(),
    workspaceId,
    name,
    status: "active",
    createdAt: now,
    updatedAt: now,
  };
}

function toKeyed(request: CreateQueueSlotRuleRequest): KeyedRequest | undefined {
  const { workspaceId, idempotency } = request;
  if (idempotency === undefined) return undefined;
  const { key, fingerprint } = idempotency;
  return { workspaceId, operation: "CreateQueueSlotRule", key, fingerprint };
}

type Outcome =
  | { readonly kind: "created"; readonly rule: QueueSlotRule }
  | { readonly kind: "replayed"; readonly response: Uint8Array };

/** The key is checked first: a repetition is answered even if there are too many rules by now. */
async function accept(
  tx: TransactionSql,
  row: QueueSlotRuleRow,
  { message, keyed }: { readonly message: QueueSlotRule; readonly keyed: KeyedRequest | undefined },
): Promise<Outcome> {
  if (keyed !== undefined) {
    const response = await takeKeyOrReplay(tx, keyed, toBinary(QueueSlotRuleSchema, message));
    if (response !== undefined) return { kind: "replayed", response };
  }
  await lockRuleCount(tx, row.workspaceId);
  const { length } = await listQueueSlotRuleRows(tx, row.workspaceId);
  if (length >= MAX_RULES_PER_WORKSPACE)
    throw unprocessable("validation_failed", [
      { code: "too_many_rules", limit: MAX_RULES_PER_WORKSPACE, actual: length + 1 },
    ]);

  await insertQueueSlotRule(tx, row);
  const { id, workspaceId } = row;
  const subject = { type: "queue_slot_rule", id } as const;
  await appendDeed(tx, { action: "queue_slot_rule.create", subject, workspaceId });
  return { kind: "created", rule: message };
}

/** Posts that already have a slot keep their time. */
export async function updateQueueSlotRule(
  { sql, clock }: Pick<PostsDeps, "sql" | "clock">,
  request: UpdateQueueSlotRuleRequest,
): Promise<MessageInitShape<typeof UpdateQueueSlotRuleResponseSchema>> {
  const { workspaceId, id } = request;
  assertIds(workspaceId, id);
  const now = await clock();
  const rule = await change(sql, request, now);
  // The slots are searched after the transaction, so that it keeps its lock no longer than needed.
  const [slots = []] = await findShownSlots(sql, [rule], { workspaceId, now });
  return { rule: toQueueSlotRule(rule, slots) };
}

async function change(
  sql: PostsDeps["sql"],
  request: UpdateQueueSlotRuleRequest,
  now: Date,
): Promise<QueueSlotRuleRow> {
  const { workspaceId, id } = request;
  return await beginInTurn(sql, workspaceId, async (tx) => {
    const known = await lockQueueSlotRule(tx, workspaceId, id);
    if (known === undefined) throw notFound();
    if (isEmpty(request)) throw invalidRequest();
    const rule = changeRule(known, request, now);
    await updateQueueSlotRuleRow(tx, rule);
    const subject = { type: "queue_slot_rule", id } as const;
    await appendDeed(tx, { action: "queue_slot_rule.update", subject, workspaceId });
    return rule;
  });
}

function isEmpty(request: UpdateQueueSlotRuleRequest): boolean {
  const { name, weekdays, times, timezone, startsOn, endsOn, status } = request;
  const isSent = [name, timezone, startsOn, endsOn, status].some((it) => it !== undefined);
  return !isSent && weekdays.length === 0 && times.length === 0;
}

/** Deletes a queue-slot rule; posts that already have one of its slots keep their time. */
export async function deleteQueueSlotRule(
  { sql, clock }: Pick<PostsDeps, "sql" | "clock">,
  { workspaceId, id }: DeleteQueueSlotRuleRequest,
): Promise<MessageInitShape<typeof DeleteQueueSlotRuleResponseSchema>> {
  assertIds(workspaceId, id);
  const deletedAt = await clock();
  await beginInTurn(sql, workspaceId, async (tx) => {
    if (!(await deleteQueueSlotRuleRow(tx, { workspaceId, id, deletedAt }))) throw notFound();
    const subject = { type: "queue_slot_rule", id } as const;
    await appendDeed(tx, { action: "queue_slot_rule.delete", subject, workspaceId });
  });
  return {};
}
