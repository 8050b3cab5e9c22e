import type { UpdateQueueSlotRuleRequest } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { invalidRequest, type Violation } from "@postrider/shared/errors";
import type { QueueSlotRuleRow } from "#src/db/queue-slot-rules.ts";
import { checkSlotTimetable, normalizeSlotTimetable } from "#src/domain/queue-slot-rule.ts";

export function assertRule(faults: readonly Violation[]): void {
  if (faults.length > 0) throw invalidRequest(faults);
}

/** An empty text removes the first or last date of the rule. */
export function changeRule(
  rule: QueueSlotRuleRow,
  request: UpdateQueueSlotRuleRequest,
  now: Date,
): QueueSlotRuleRow {
  const { name = rule.name, status = rule.status, timezone = rule.timezone } = request;
  const timetable = {
    weekdays: request.weekdays.length > 0 ? request.weekdays : rule.weekdays,
    times: request.times.length > 0 ? request.times : rule.times,
    timezone,
    startsOn: toDate(request.startsOn, rule.startsOn),
    endsOn: toDate(request.endsOn, rule.endsOn),
  };
  assertRule([
    ...(name === "" ? [{ code: "invalid", path: "/name" }] : []),
    ...(status === "active" || status === "paused" ? [] : [{ code: "invalid", path: "/status" }]),
    ...checkSlotTimetable(timetable),
  ]);
  return {
    ...rule,
    ...normalizeSlotTimetable(timetable),
    name,
    status: status === "paused" ? "paused" : "active",
    updatedAt: now,
  };
}

function toDate(sent: string | undefined, known: string | null): string | null {
  if (sent === undefined) return known;
  return sent === "" ? null : sent;
}
