import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  QueueSlotRuleSchema,
  type CreateQueueSlotRuleRequest,
  type CreateQueueSlotRuleResponseSchema,
} from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { unprocessable } from "@postrider/shared/errors";
import { isId, newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { takeKeyOrReplay, type KeyedRequest } from "@postrider/shared/postgres/idempotency";
import {
  insertQueueSlotRule,
  listQueueSlotRules,
  type QueueSlotRuleRow,
} from "#src/db/queue-slot-rules.ts";
import { lockRuleCount } from "#src/db/rule-count.ts";
import { listTakenSlots } from "#src/db/slot-assignments.ts";
import { checkSlotTimetable, normalizeSlotTimetable } from "#src/domain/queue-slot-rule.ts";
import { assertRule } from "#src/rpc/parse-queue-slot-rule.ts";
import type { QueueSlotServiceDeps } from "#src/rpc/queue-slot-service.ts";
import { toQueueSlotRule } from "#src/rpc/to-queue-slot-rule.ts";

const MAX_RULES = 100;

type Response = MessageInitShape<typeof CreateQueueSlotRuleResponseSchema>;

export async function createRule(
  { sql, clock }: QueueSlotServiceDeps,
  request: CreateQueueSlotRuleRequest,
): Promise<Response> {
  const now = await clock();
  const rule = parse(request, now);
  const keyed = toKeyed(request);
  const replay = await sql.begin((tx) => accept(tx, rule, { keyed, now }));
  if (replay.stored !== undefined)
    return { rule: fromBinary(QueueSlotRuleSchema, replay.stored), replayed: true };
  return { rule: replay.rule, replayed: false };
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

interface Outcome {
  readonly rule: MessageInitShape<typeof QueueSlotRuleSchema>;
  readonly stored: Uint8Array | undefined;
}

/** The key comes first: a request that has succeeded keeps its answer, also when there is no room by now. */
async function accept(
  tx: TransactionSql,
  row: QueueSlotRuleRow,
  { keyed, now }: { readonly keyed: KeyedRequest | undefined; readonly now: Date },
): Promise<Outcome> {
  const taken = await listTakenSlots(tx, row.workspaceId, now);
  const rule = create(QueueSlotRuleSchema, toQueueSlotRule(row, { now, taken }));
  if (keyed !== undefined) {
    const stored = await takeKeyOrReplay(tx, keyed, toBinary(QueueSlotRuleSchema, rule));
    if (stored !== undefined) return { rule, stored };
  }
  await lockRuleCount(tx, row.workspaceId);
  const { length } = await listQueueSlotRules(tx, row.workspaceId);
  if (length >= MAX_RULES) {
    throw unprocessable("validation_failed", [
      { code: "too_many_rules", limit: MAX_RULES, actual: length + 1 },
    ]);
  }
  await insertQueueSlotRule(tx, row);
  return { rule, stored: undefined };
}
