import type { ServiceImpl } from "@connectrpc/connect";
import type { QueueSlotService } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import type { Sql } from "@postrider/shared/postgres";
import type { DatabaseClock } from "#src/db/clock.ts";
import { createRule } from "#src/rpc/create-queue-slot-rule.ts";
import { revokeRule } from "#src/rpc/delete-queue-slot-rule.ts";
import { listRules } from "#src/rpc/list-queue-slot-rules.ts";
import { updateRule } from "#src/rpc/update-queue-slot-rule.ts";

export interface QueueSlotServiceDeps {
  readonly sql: Sql;
  readonly clock: DatabaseClock;
}

/** The table of contents of QueueSlotService. */
export function createQueueSlotService(deps: QueueSlotServiceDeps) {
  return {
    listQueueSlotRules: (request) => listRules(deps, request),
    createQueueSlotRule: (request) => createRule(deps, request),
    updateQueueSlotRule: (request) => updateRule(deps, request),
    deleteQueueSlotRule: (request) => revokeRule(deps, request),
  } satisfies ServiceImpl<typeof QueueSlotService>;
}
