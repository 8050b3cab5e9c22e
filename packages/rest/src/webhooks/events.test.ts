import { expect, test } from "vitest";
import { findEventFaults } from "#src/testing/event-faults.ts";
import { WEBHOOK_EVENTS } from "#src/webhooks/events.ts";

test.each(WEBHOOK_EVENTS)(
  "the example of the webhook event $type matches the JSON Schema of the event",
  ({ type, example }) => {
    expect(findEventFaults({ type, ...example })).toEqual([]);
  },
);

test.each(WEBHOOK_EVENTS)(
  "a body of the webhook event $type without data does not match the JSON Schema of the event",
  ({ type, example }) => {
    expect(findEventFaults({ ...example, type, data: undefined } as never)).not.toEqual([]);
    expect(findEventFaults({ ...example, type, data: {} } as never)).not.toEqual([]);
  },
);
