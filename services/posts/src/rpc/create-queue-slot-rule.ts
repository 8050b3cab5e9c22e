import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  QueueSlotRuleSchema,
  type QueueSlotRule,
  type CreateQueueSlotRuleRequest,
  type CreateQueueSlotRuleResponseSchema,
} from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { unprocessable } from "@postrider/shared/errors";
import { isId, newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { takeKeyOrReplay, type KeyedRequest } from "@postrider/shared/postgres/idempotency";
import {
  insertQueueSlotRule,
  listQueueSlotRuleRows,
  lockRuleCount,
  type QueueSlotRuleRow,
} from "#src/db/queue-slot-rules.ts";
import { checkSlotTimetable, normalizeSlotTimetable } from "#src/domain/queue-slot-rule.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { findShownSlots } from "#src/operations/find-free-slots.ts";
import { assertRule } from "#src/rpc/parse-queue-slot-rule.ts";
import { toQueueSlotRule } from "#src/rpc/to-queue-slot-rule.ts";

const MAX_RULES_PER_WORKSPACE = 100;

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
