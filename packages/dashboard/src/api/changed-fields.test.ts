import { expect, test } from "vitest";
import { changedFields, isEmpty } from "./changed-fields.ts";

test("only the fields that were changed are sent, so that changes of others stay", () => {
  const opened = { name: "Prices", message: "old", keywords: ["price"], mediaIds: null };
  expect(changedFields(opened, { ...opened, name: "Price", keywords: ["price", "cost"] })).toEqual({
    name: "Price",
    keywords: ["price", "cost"],
  });
  expect(isEmpty(changedFields(opened, { ...opened, keywords: ["price"] }))).toBe(true);
});
