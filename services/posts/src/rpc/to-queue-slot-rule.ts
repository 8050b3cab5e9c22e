import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { QueueSlotRuleSchema } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import type { QueueSlotRuleRow } from "#src/db/queue-slot-rules.ts";
import { nextFreeSlots } from "#src/domain/next-slots.ts";

/** What computing the next free queue slots of a rule needs: the current time and the slots that posts have taken. */
export interface SlotView {
  readonly now: Date;
  readonly taken: ReadonlySet<number>;
}

/** Number of next queue slots that are returned with a queue-slot rule. */
const SHOWN_SLOTS = 3;

/**
 * Converts a queue-slot rule to the message that the RPCs return. Its next slots are computed as if the workspace had
 * no other rule.
 */
export function toQueueSlotRule(
  rule: QueueSlotRuleRow,
  { now, taken }: SlotView,
): MessageInitShape<typeof QueueSlotRuleSchema> {
  const slots = nextFreeSlots([rule], { after: now, taken, count: SHOWN_SLOTS });
  return {
    id: rule.id,
    name: rule.name,
    weekdays: [...rule.weekdays],
    times: [...rule.times],
    timezone: rule.timezone,
    ...(rule.startsOn === null ? {} : { startsOn: rule.startsOn }),
    ...(rule.endsOn === null ? {} : { endsOn: rule.endsOn }),
    status: rule.status,
    nextSlots: slots.map(({ slotAt }) => timestampFromDate(slotAt)),
    createdAt: timestampFromDate(rule.createdAt),
    updatedAt: timestampFromDate(rule.updatedAt),
  };
}
