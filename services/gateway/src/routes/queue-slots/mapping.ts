import type { QueueSlotRule } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { toInstant, toOptionalInstant } from "@postrider/rest/timestamps";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import type { CreateQueueSlotRule, UpdateQueueSlotRule } from "#src/routes/queue-slots/schemas.ts";

/** Returns the fields of a new queue slot rule. A date of null means the same as an absent date. */
export function fromNewRule(body: Static<typeof CreateQueueSlotRule>) {
  const { startsOn, endsOn, ...rest } = body;
  return {
    ...rest,
    ...defined({ startsOn: startsOn ?? undefined, endsOn: endsOn ?? undefined }),
  };
}

/**
 * Returns the fields of a queue slot rule to change. A date is removed by null in the API, and by
 * an empty text in the RPC.
 */
export function fromRuleChanges(body: Static<typeof UpdateQueueSlotRule>) {
  const { startsOn, endsOn, ...rest } = body;
  return defined({
    ...rest,
    startsOn: startsOn === null ? "" : startsOn,
    endsOn: endsOn === null ? "" : endsOn,
  });
}

export function toQueueSlotRule(rule: QueueSlotRule) {
  const { id, name, weekdays, times, timezone, status } = rule;
  return {
    id,
    name,
    weekdays,
    times,
    timezone,
    startsOn: rule.startsOn ?? null,
    endsOn: rule.endsOn ?? null,
    status,
    nextSlots: rule.nextSlots.map(toInstant),
    createdAt: toOptionalInstant(rule.createdAt),
    updatedAt: toOptionalInstant(rule.updatedAt),
  };
}
