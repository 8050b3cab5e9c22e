import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { QueueSlotRuleSchema } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import type { QueueSlotRuleRow } from "#src/db/queue-slot-rules.ts";
import type { NextSlots } from "#src/domain/next-slots.ts";

export function toQueueSlotRule(
  rule: QueueSlotRuleRow,
  nextSlots: NextSlots,
): MessageInitShape<typeof QueueSlotRuleSchema> {
  return {
    id: rule.id,
    name: rule.name,
    weekdays: [...rule.weekdays],
    times: [...rule.times],
    timezone: rule.timezone,
    ...(rule.startsOn === null ? {} : { startsOn: rule.startsOn }),
    ...(rule.endsOn === null ? {} : { endsOn: rule.endsOn }),
    status: rule.status,
    nextSlots: nextSlots.map(timestampFromDate),
    createdAt: timestampFromDate(rule.createdAt),
    updatedAt: timestampFromDate(rule.updatedAt),
  };
}
