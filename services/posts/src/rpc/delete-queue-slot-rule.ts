import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeleteQueueSlotRuleRequest,
  DeleteQueueSlotRuleResponseSchema,
} from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { notFound } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { deleteQueueSlotRuleRow } from "#src/db/queue-slot-rules.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";

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
