import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeleteQueueSlotRuleRequest,
  DeleteQueueSlotRuleResponseSchema,
} from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { lockQueueSlotRule, updateQueueSlotRule } from "#src/db/queue-slot-rules.ts";
import type { QueueSlotServiceDeps } from "#src/rpc/queue-slot-service.ts";

/** The row stays, for the posts that name it. */
export async function revokeRule(
  { sql, clock }: QueueSlotServiceDeps,
  { workspaceId, id }: DeleteQueueSlotRuleRequest,
): Promise<MessageInitShape<typeof DeleteQueueSlotRuleResponseSchema>> {
  if (!isId(workspaceId) || !isId(id)) throw notFound();
  const updatedAt = await clock();
  await sql.begin(async (tx) => {
    const rule = await lockQueueSlotRule(tx, workspaceId, id);
    if (rule === undefined) throw notFound();
    await updateQueueSlotRule(tx, { ...rule, status: "revoked", updatedAt });
  });
  return {};
}
