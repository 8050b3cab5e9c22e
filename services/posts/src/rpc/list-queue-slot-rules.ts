import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListQueueSlotRulesRequest,
  ListQueueSlotRulesResponseSchema,
} from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listQueueSlotRules } from "#src/db/queue-slot-rules.ts";
import { listTakenSlots } from "#src/db/slot-assignments.ts";
import type { QueueSlotServiceDeps } from "#src/rpc/queue-slot-service.ts";
import { toQueueSlotRule } from "#src/rpc/to-queue-slot-rule.ts";

export async function listRules(
  { sql, clock }: QueueSlotServiceDeps,
  { workspaceId }: ListQueueSlotRulesRequest,
): Promise<MessageInitShape<typeof ListQueueSlotRulesResponseSchema>> {
  if (!isId(workspaceId)) throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
  const now = await clock();
  const [rules, taken] = await Promise.all([
    listQueueSlotRules(sql, workspaceId),
    listTakenSlots(sql, workspaceId, now),
  ]);
  return { rules: rules.map((rule) => toQueueSlotRule(rule, { now, taken })) };
}
