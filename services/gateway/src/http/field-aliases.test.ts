import { expect, test } from "vitest";
import { findIntendedField, toStatus } from "#src/http/field-aliases.ts";

const POST = ["content", "accountIds", "mediaIds", "scheduledAt", "isDraft"];

test.each([
  ["account_ids", "accountIds"],
  ["AccountId", "accountIds"],
  ["text", "content"],
  ["platforms", "accountIds"],
  ["status", "isDraft"],
  ["contnet", "content"],
  ["publish_at", "scheduledAt"],
])("the unknown field %s of a post means %s", (name, field) => {
  expect(findIntendedField(name, POST)).toBe(field);
});

test("the unknown field `page` means `cursor`, and `enabled` means `status`", () => {
  expect(findIntendedField("page", ["limit", "cursor"])).toBe("cursor");
  expect(findIntendedField("enabled", ["name", "status"])).toBe("status");
});

test.each(["targets2", "x", "", "__proto__", "constructor", "k".repeat(1_000)])(
  "no field is proposed for the unknown field %j, which resembles none",
  (name) => {
    expect(findIntendedField(name, POST)).toBeUndefined();
  },
);

test.each([
  ["enabled", false, "paused"],
  ["active", true, "active"],
  ["paused", true, "paused"],
  ["isDisabled", false, "active"],
  ["enabled", "no", undefined],
])("the unknown field %s with the value %j means the status %s", (name, value, status) => {
  expect(toStatus(name, value, ["active", "paused"])).toBe(status);
  expect(toStatus(name, value, ["draft", "published"])).toBeUndefined();
});
