import { expect, test } from "vitest";
import { adviseOnName } from "#src/http/unknown-fields.ts";

const FIELDS = {
  content: { type: "string" },
  isDraft: { type: "boolean" },
  mediaId: { type: "string" },
  status: { type: "string", enum: ["active", "paused"] },
};

test("the unknown field `status` of a post means isDraft: true for draft, and no field for another status", () => {
  const { status: _, ...fields } = FIELDS;
  expect(adviseOnName("status", { status: "draft" }, fields)?.expected).toBe(
    "isDraft: true (true or false)",
  );
  expect(adviseOnName("status", { status: "published" }, fields)).toBeUndefined();
});

test("for a list in an unknown field that probably means a field with one value, the advice is to send one request per item", () => {
  expect(adviseOnName("mediaIds", { mediaIds: ["1", "2"] }, FIELDS)).toEqual({
    expected: "mediaId (a string)",
    variant: "each",
    instead: ["mediaId"],
  });
});

test("the advice for the unknown field `enabled` suggests the `status` that corresponds to the value sent", () => {
  expect(adviseOnName("enabled", { enabled: false }, FIELDS)?.expected).toMatch(
    /^status: "paused" /,
  );
});

test("for fields that a client wrapped in an unknown object, the advice is to send them one level higher; a long object is not repeated", () => {
  expect(adviseOnName("post", { post: { content: "a" } }, FIELDS)).toEqual({
    expected: '{"content":"a"}',
    variant: "wrapper",
    instead: ["content"],
  });
  expect(adviseOnName("post", { post: { content: "a".repeat(99) } }, FIELDS)?.expected).toBe(
    "content",
  );
});

test("a field that the request already has is not proposed for an unknown field", () => {
  expect(adviseOnName("text", { text: "a", content: "b" }, FIELDS)).toBeUndefined();
});
