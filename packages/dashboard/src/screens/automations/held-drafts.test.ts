import { expect, test } from "vitest";
import { draftOn, type Held, NEW, withDraft, withoutDraft } from "./held-drafts.ts";
import { newDraft } from "./rule-draft.ts";

const opened = { ...newDraft("a"), name: "Prices", message: "old link" };
const theirs = { ...opened, message: "new link" };
const empty: Held = { drafts: {}, key: "k" };

test("a draft is shown with what someone else has changed in its other fields", () => {
  const begun = withDraft(empty, "r", { opened, draft: { ...opened, name: "Price" } });
  const shown = draftOn(theirs, begun.drafts["r"]);
  expect(shown).toEqual({ ...theirs, name: "Price" });
  const held = withDraft(begun, "r", { opened: theirs, draft: { ...shown, match: "all" } });
  const later = { ...theirs, message: "newest link" };
  expect(draftOn(later, held.drafts["r"])).toEqual({ ...later, name: "Price", match: "all" });
});

test("what was typed and taken back does not cover what someone else has written", () => {
  const { drafts } = withDraft(empty, "r", { opened, draft: { ...opened } });
  expect(draftOn(theirs, drafts["r"])).toEqual(theirs);
});

test("what was written while a draft was being saved is held, compared with what was saved", () => {
  const saved = { ...opened, name: "Price" };
  const later = { ...saved, match: "all" } as const;
  const held = withDraft(empty, "r", { opened, draft: later });
  const before = { held: { opened, draft: saved }, draft: saved };
  expect(withoutDraft(held, "r", before).drafts["r"]).toEqual({ opened: saved, draft: later });
  const same = { held: held.drafts["r"], draft: later };
  expect(withoutDraft(held, "r", same).drafts).toEqual({});
  expect(withoutDraft(held, "r").drafts).toEqual({});
});

test("only a rule that is made or discarded ends its key, not what becomes of another one", () => {
  const draft = { ...opened, name: "Price" };
  const asked: Held = { drafts: { r: { opened, draft } }, key: "k", isAsked: true };
  expect(withoutDraft(asked, "r")).toEqual({ drafts: {}, key: "k", isAsked: true });
  const made = withoutDraft(asked, NEW);
  expect(made.key).not.toBe("k");
  expect(made.isAsked).toBeUndefined();
});
