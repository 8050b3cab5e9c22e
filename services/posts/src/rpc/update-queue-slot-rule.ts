import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateQueueSlotRuleRequest,
  UpdateQueueSlotRuleResponseSchema,
} from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import {
  lockQueueSlotRule,
  updateQueueSlotRuleRow,
  type QueueSlotRuleRow,
} from "#src/db/queue-slot-rules.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { findShownSlots } from "#src/operations/find-free-slots.ts";
import { changeRule } from "#src/rpc/parse-queue-slot-rule.ts";
import { toQueueSlotRule } from "#src/rpc/to-queue-slot-rule.ts";

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
