import { expect, test } from "vitest";
import { parseView, toFilter, toParameters } from "./filters.ts";

test("a view survives the address, and a tab that is not known shows the open comments", () => {
  const view = { tab: "done", accountId: "a", comment: "c" } as const;
  expect(parseView(new URLSearchParams(toParameters(view)))).toEqual(view);
  expect(parseView(new URLSearchParams("tab=lost")).tab).toBe("open");
});

test("the tab of all comments filters by no state", () => {
  expect(toFilter({ tab: "all", accountId: "a", comment: undefined })).toEqual({
    state: undefined,
    accountId: "a",
  });
});
