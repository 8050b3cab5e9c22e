import { WEBHOOK_EVENTS } from "@postrider/rest/webhooks/events";
import { expect, test } from "vitest";
import { EVENT_TYPES, isEventFilter } from "./event-types.ts";

test("every webhook event type is documented in the API description, except the types that no code sends yet", () => {
  const documented: readonly string[] = WEBHOOK_EVENTS.map(({ type }) => type);
  expect(EVENT_TYPES.filter((type) => !documented.includes(type))).toEqual([
    "comment_action.completed",
    "automation_run.completed",
  ]);
  expect(documented.every(isEventFilter)).toBe(true);
});
