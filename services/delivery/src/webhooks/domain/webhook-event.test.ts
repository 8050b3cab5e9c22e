import { WEBHOOK_EVENTS } from "@postrider/rest/webhooks/events";
import { expect, test } from "vitest";
import { EVENT_TYPES, isEventFilter } from "./webhook-event.ts";

test("every webhook event type is documented in the API description and can be a filter", () => {
  const documented = WEBHOOK_EVENTS.map(({ type }) => type);
  expect(documented).toEqual(EVENT_TYPES);
  expect(documented.every(isEventFilter)).toBe(true);
});
