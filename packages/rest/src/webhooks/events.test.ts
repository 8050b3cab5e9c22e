import { expect, test } from "vitest";
import { findEventFaults } from "#src/testing/event-faults.ts";
import { WEBHOOK_EVENTS } from "#src/webhooks/events.ts";

test.each(WEBHOOK_EVENTS)(
  "the example of the event $type matches its schema",
  ({ type, example }) => {
    expect(findEventFaults({ type, ...example })).toEqual([]);
  },
);

test.each(WEBHOOK_EVENTS)(
  "a body of the event $type without data does not match its schema",
  ({ type, example }) => {
    expect(findEventFaults({ ...example, type, data: undefined } as never)).not.toEqual([]);
    expect(findEventFaults({ ...example, type, data: {} } as never)).not.toEqual([]);
  },
);
