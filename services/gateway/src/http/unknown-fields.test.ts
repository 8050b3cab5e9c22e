import { expect, test } from "vitest";
import { adviseOnName } from "#src/http/unknown-fields.ts";

const FIELDS = {
  content: { type: "string" },
  isDraft: { type: "boolean" },
  mediaId: { type: "string" },
  status: { type: "string", enum: ["active", "paused"] },
};

test("the status draft means isDraft: true, and another status has no field", () => {
  const { status: _, ...fields } = FIELDS;
  expect(adviseOnName("status", { status: "draft" }, fields)?.expected).toBe(
    "isDraft: true (true or false)",
  );
  expect(adviseOnName("status", { status: "published" }, fields)).toBeUndefined();
});

test("a list for a field with one value is answered with one request for each item", () => {
  expect(adviseOnName("mediaIds", { mediaIds: ["1", "2"] }, FIELDS)).toEqual({
    expected: "mediaId (a string)",
    variant: "each",
    instead: ["mediaId"],
  });
});

test("a switch is answered with the status that it means", () => {
  expect(adviseOnName("enabled", { enabled: false }, FIELDS)?.expected).toMatch(
    /^status: "paused" /,
  );
});

test("fields in an object around them belong one level higher, and a long object is not repeated", () => {
  expect(adviseOnName("post", { post: { content: "a" } }, FIELDS)).toEqual({
    expected: '{"content":"a"}',
    variant: "wrapper",
    instead: ["content"],
  });
  expect(adviseOnName("post", { post: { content: "a".repeat(99) } }, FIELDS)?.expected).toBe(
    "content",
  );
});

test("a field that was sent already is not proposed for another name", () => {
  expect(adviseOnName("text", { text: "a", content: "b" }, FIELDS)).toBeUndefined();
});
