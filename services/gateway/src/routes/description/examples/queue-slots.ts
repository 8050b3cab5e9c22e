import type { OperationExamples } from "./example.ts";
import { EXAMPLE_IDS } from "./ids.ts";

const FIELDS = {
  name: "Weekday mornings",
  weekdays: ["mon", "wed", "fri"],
  times: ["09:30", "18:00"],
  timezone: "Asia/Seoul",
};

const RULE = {
  id: EXAMPLE_IDS.queueSlotRule,
  ...FIELDS,
  startsOn: null,
  endsOn: "2026-12-31",
  status: "active",
  nextSlots: ["2026-11-23T00:30:00.000Z", "2026-11-23T09:00:00.000Z", "2026-11-25T00:30:00.000Z"],
  createdAt: "2026-11-20T12:00:00.000Z",
  updatedAt: "2026-11-20T12:00:00.000Z",
};

/** The examples in the API description for operations on queue slot rules. */
export const QUEUE_SLOT_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  listQueueSlotRules: { answers: { 200: { rules: [RULE] } } },
  createQueueSlotRule: {
    requests: {
      weekdays: {
        summary: "Twice on three days of the week, until the end of the year",
        value: { ...FIELDS, endsOn: "2026-12-31" },
      },
    },
    answers: { 201: RULE },
  },
  updateQueueSlotRule: {
    requests: {
      pause: { summary: "Pause the rule", value: { status: "paused" } },
      times: { summary: "Change the times", value: { times: ["10:00"] } },
    },
    answers: { 200: { ...RULE, status: "paused", nextSlots: [] } },
  },
};
