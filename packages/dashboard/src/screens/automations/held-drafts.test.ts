import { expect, test } from "vitest";
import { changedFields } from "../../api/changed-fields.ts";
import { type Held, withDraft, withoutDraft } from "./held-drafts.ts";
import { newDraft } from "./rule-draft.ts";

const opened = { ...newDraft("a"), name: "Prices", message: "old link" };
const empty: Held = { drafts: {}, key: "k" };

test("a draft is compared with the rule as it was opened, not as someone else has changed it", () => {
  const first = { ...opened, name: "Price" };
  const begun = withDraft(empty, "r", first, opened);
  const theirs = { ...opened, message: "new link" };
  const held = withDraft(begun, "r", { ...first, match: "all" }, theirs).drafts["r"];
  expect(held && changedFields(held.opened, held.draft)).toEqual({ name: "Price", match: "all" });
});

test("what was written while a draft was being saved is held, compared with what was saved", () => {
  const saved = { ...opened, name: "Price" };
  const later = { ...saved, match: "all" } as const;
  const held = withDraft(empty, "r", later, opened);
  expect(withoutDraft(held, "r", saved).drafts["r"]).toEqual({ opened: saved, draft: later });
  expect(withoutDraft(held, "r", later).drafts).toEqual({});
  expect(withoutDraft(held, "r").drafts).toEqual({});
});
