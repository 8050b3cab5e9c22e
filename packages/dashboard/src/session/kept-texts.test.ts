import { expect, test } from "vitest";
import { dropTexts, hasTexts } from "./kept-texts.ts";

function createStorage(items: Readonly<Record<string, unknown>>) {
  const kept = new Map(Object.entries(items).map(([name, item]) => [name, JSON.stringify(item)]));
  return {
    kept,
    get length() {
      return kept.size;
    },
    key: (index: number) => [...kept.keys()][index] ?? null,
    getItem: (name: string) => kept.get(name) ?? null,
    removeItem: (name: string) => void kept.delete(name),
  };
}

const THEME = { "postrider.theme": "dark" };
const UNWRITTEN = { "postrider.draft.w.new": { keptAt: 0 }, "postrider.replies.w": {} };

test("an opened composer and a reply that was sent are nothing that would be missed", () => {
  const sent = { "postrider.replies.v": { c: { text: "", key: "k", actionId: "x" } } };
  expect(hasTexts(createStorage({ ...THEME, ...UNWRITTEN, ...sent }))).toBe(false);
});

test.each([
  { "postrider.draft.v.edit": { text: "Hi", keptAt: 1 } },
  { "postrider.replies.v": { c: { text: "Yes", key: "k" } } },
])("a text that was written would be missed: %o", (written) => {
  expect(hasTexts(createStorage({ ...UNWRITTEN, ...written }))).toBe(true);
});

test("all texts of all workspaces are removed, and no setting", () => {
  const written = { "postrider.draft.v.edit": { text: "Hi", keptAt: 1 } };
  const storage = createStorage({ ...UNWRITTEN, ...THEME, ...written });
  dropTexts(storage);
  expect([...storage.kept.keys()]).toEqual(Object.keys(THEME));
});
