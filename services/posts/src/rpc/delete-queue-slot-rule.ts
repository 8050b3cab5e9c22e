import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeleteQueueSlotRuleRequest,
  DeleteQueueSlotRuleResponseSchema,
} from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { deleteQueueSlotRuleRow } from "#src/db/queue-slot-rules.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";

/** Deletes a queue-slot rule; posts that already have one of its slots keep their time. */
export async function deleteQueueSlotRule(
  { sql, clock }: Pick<PostsDeps, "sql" | "clock">,
  { workspaceId, id }: DeleteQueueSlotRuleRequest,
): Promise<MessageInitShape<typeof DeleteQueueSlotRuleResponseSchema>> {
  if (!isId(workspaceId) || !isId(id)) throw notFound();
  const isDeleted = await deleteQueueSlotRuleRow(sql, {
    workspaceId,
    id,
    deletedAt: await clock(),
  });
  if (!isDeleted) throw notFound();
  return {};
}
