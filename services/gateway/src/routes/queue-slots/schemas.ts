import { enumeration, Id, Instant, nullable, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";
import { LocalDate } from "#src/routes/schemas.ts";

const Weekday = enumeration("Weekday", ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]);
const TimeOfDay = Type.String({
  pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
  description: "A time of day from 00:00 to 23:59 with two digits each, such as 09:30.",
});

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Weekdays = Type.Array(Weekday, { minItems: 1, maxItems: 7, uniqueItems: true });
const Times = Type.Array(TimeOfDay, { minItems: 1, maxItems: 48, uniqueItems: true });
const Timezone = Type.String({
  minLength: 1,
  maxLength: 100,
  examples: ["Asia/Seoul"],
  description: "IANA time zone. The rule keeps its local time across daylight saving changes.",
});
const StartsOn = nullable({ ...LocalDate, description: "First local date, inclusive." });
const EndsOn = nullable({ ...LocalDate, description: "Last local date, inclusive." });

export const QueueSlotRule = Type.Object(
  {
    id: Id,
    name: Type.String(),
    weekdays: Type.Array(Weekday),
    times: Type.Array(TimeOfDay),
    timezone: Type.String(),
    startsOn: StartsOn,
    endsOn: EndsOn,
    status: enumeration("QueueSlotRuleStatus", ["active", "paused", "revoked"]),
    nextSlots: Type.Array(Instant, {
      description: "The next free slots, at most three; empty unless the rule is active.",
    }),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { $id: "QueueSlotRule" },
);

export const QueueSlotRuleList = Type.Object(
  { rules: Type.Array(ref(QueueSlotRule)) },
  { $id: "QueueSlotRuleList" },
);

export const CreateQueueSlotRule = Type.Object(
  {
    name: Name,
    weekdays: Weekdays,
    times: Times,
    timezone: Timezone,
    startsOn: Type.Optional(StartsOn),
    endsOn: Type.Optional(EndsOn),
  },
  { $id: "CreateQueueSlotRule", additionalProperties: false },
);

export const UpdateQueueSlotRule = Type.Object(
  {
    name: Type.Optional(Name),
    weekdays: Type.Optional(Weekdays),
    times: Type.Optional(Times),
    timezone: Type.Optional(Timezone),
    startsOn: Type.Optional(StartsOn),
    endsOn: Type.Optional(EndsOn),
    status: Type.Optional(Type.Unsafe<string>({ type: "string", enum: ["active", "paused"] })),
  },
  {
    $id: "UpdateQueueSlotRule",
    additionalProperties: false,
    minProperties: 1,
    description: "Each field that is sent replaces the previous value of the field.",
  },
);

export const QUEUE_SLOT_SCHEMAS = [
  QueueSlotRule,
  QueueSlotRuleList,
  CreateQueueSlotRule,
  UpdateQueueSlotRule,
];
