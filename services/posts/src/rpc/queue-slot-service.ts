import type { ServiceImpl } from "@connectrpc/connect";
import type { QueueSlotService } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { createQueueSlotRule } from "#src/rpc/create-queue-slot-rule.ts";
import { deleteQueueSlotRule } from "#src/rpc/delete-queue-slot-rule.ts";
import { listQueueSlotRules } from "#src/rpc/list-queue-slot-rules.ts";
import { updateQueueSlotRule } from "#src/rpc/update-queue-slot-rule.ts";

export function createQueueSlotService(deps: Pick<PostsDeps, "sql" | "clock">) {
  return {
    listQueueSlotRules: (request) => listQueueSlotRules(deps, request),
    createQueueSlotRule: (request) => createQueueSlotRule(deps, request),
    updateQueueSlotRule: (request) => updateQueueSlotRule(deps, request),
    deleteQueueSlotRule: (request) => deleteQueueSlotRule(deps, request),
  } satisfies ServiceImpl<typeof QueueSlotService>;
}
