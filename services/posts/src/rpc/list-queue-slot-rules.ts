import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListQueueSlotRulesRequest,
  ListQueueSlotRulesResponseSchema,
} from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listQueueSlotRuleRows } from "#src/db/queue-slot-rules.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { findShownSlots } from "#src/operations/find-free-slots.ts";
import { toQueueSlotRule } from "#src/rpc/to-queue-slot-rule.ts";

export async function listQueueSlotRules(
  { sql, clock }: Pick<PostsDeps, "sql" | "clock">,
  { workspaceId }: ListQueueSlotRulesRequest,
): Promise<MessageInitShape<typeof ListQueueSlotRulesResponseSchema>> {
  if (!isId(workspaceId)) throw invalidRequest([{ code: "invalid", path: "/workspaceId" }]);
  const now = await clock();
  const rules = await listQueueSlotRuleRows(sql, workspaceId);
  const slots = await findShownSlots(sql, rules, { workspaceId, now });
  return { rules: rules.map((rule, index) => toQueueSlotRule(rule, slots[index] ?? [])) };
}
