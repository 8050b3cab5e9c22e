import { expect, test } from "vitest";
import {
  draftName,
  dropDraft,
  dropUnwritten,
  keepDraft,
  keepReadyMedia,
  readDraft,
} from "./draft-store.ts";
import {
  type Draft,
  emptyDraft,
  moveMedia,
  partsOf,
  textsOf,
  toContent,
  withAccount,
  withOwn,
  withReadyMedia,
  withoutOwn,
} from "./draft.ts";

const WHEN = { kind: "now", date: "2026-11-27", time: "18:00", zone: "UTC", later: false } as const;
const draft: Draft = { ...emptyDraft(WHEN), text: "Hello", accountIds: ["a", "b"] };
const file = (id: string) => ({ id, kind: "image", fileName: `${id}.jpg`, altText: null }) as const;

function memory() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  };
}

test("a draft that is read again after a reload has the same text and the same key", () => {
  const storage = memory();
  const name = draftName("w", "new");
  expect(keepDraft(storage, name, draft)).toBe(true);
  expect(readDraft(storage, name)).toEqual(draft);
  dropDraft(storage, name);
  expect(readDraft(storage, name)).toBeUndefined();
});

test("a file that is ready while its draft is not shown is kept in it in its order, and in none that was sent", () => {
  const storage = memory();
  const orders = new Map([
    ["first", 1],
    ["second", 2],
  ]);
  keepDraft(storage, "new", draft);
  for (const id of ["second", "first"]) keepReadyMedia(storage, "new", file(id), orders);
  const kept = readDraft(storage, "new");
  expect(kept?.media.map(({ id }) => id)).toEqual(["first", "second"]);
  expect(kept?.keptAt).toBeGreaterThan(0);
  dropDraft(storage, "new");
  keepReadyMedia(storage, "new", file("third"), orders);
  expect(storage.kept.size).toBe(0);
});

test("a draft in which nothing was written goes with its composer, and a written one stays", () => {
  const storage = memory();
  keepDraft(storage, "opened", draft);
  keepDraft(storage, "written", { ...draft, keptAt: 1 });
  for (const name of ["opened", "written", "missing"]) dropUnwritten(storage, name);
  expect([...storage.kept.keys()]).toEqual(["written"]);
});

test("two drafts have different keys", () => {
  expect(emptyDraft(WHEN).key).not.toBe(emptyDraft(WHEN).key);
  expect(emptyDraft(WHEN).key).toMatch(/^[0-9a-f]{32}$/);
});

test("what is kept of a file has no signed address", () => {
  const storage = memory();
  const url = "https://example.com/media/signed";
  const targets = [{ accountId: "a", platform: "x" }];
  const parts = partsOf({
    content: "t",
    media: [{ ...file("m"), url }],
    options: {},
    targets,
  } as never);
  keepDraft(storage, "name", { ...draft, ...parts });
  expect([...storage.kept.values()].join("")).not.toContain("signed");
});

test.each(["not JSON", "null", '{"key":1}'])("a damaged draft is passed over: %s", (text) => {
  expect(readDraft({ ...memory(), getItem: () => text }, "name")).toBeUndefined();
});

test("a browser that keeps nothing is noticed", () => {
  const setItem = () => {
    throw new Error("full");
  };
  expect(keepDraft({ ...memory(), setItem }, "name", draft)).toBe(false);
});

test("only parts with a value, of accounts that are chosen, are sent", () => {
  const own = {
    a: { content: "Short", title: "", tags: [] },
    b: { title: undefined },
    c: { content: "Not chosen" },
  };
  expect(toContent({ ...draft, own }).options).toEqual({ a: { content: "Short" } });
});

test("an own text that is empty is sent, because it replaces the text for all", () => {
  expect(toContent(withOwn(draft, "a", { content: "" })).options).toEqual({ a: { content: "" } });
});

test("an account goes back to what all get", () => {
  const changed = withOwn(draft, "a", { content: "Short" });
  expect(withoutOwn(changed, "a").own).toEqual({});
});

test("accounts stay in the order of the list, whatever the order of the presses", () => {
  const order = ["a", "b", "c"];
  const one = withAccount({ ...draft, accountIds: ["c"] }, "a", true, order);
  expect(one.accountIds).toEqual(["a", "c"]);
  expect(withAccount(one, "c", false, order).accountIds).toEqual(["a"]);
});

test("a file is moved within the files, not beyond them", () => {
  const media = [file("1"), file("2"), file("3")];
  const ids = ({ media: moved }: Draft) => moved.map(({ id }) => id).join("");
  expect(ids(moveMedia({ ...draft, media }, 2, 0))).toBe("312");
  expect(ids(moveMedia({ ...draft, media }, 0, 9))).toBe("231");
});

test("parts of a platform become parts of each of its accounts, and those of the account win", () => {
  const targets = [
    { accountId: "a", platform: "x" },
    { accountId: "b", platform: "x" },
  ];
  const options = { x: { content: "X", title: "T" }, b: { content: "B" } };
  const { own } = partsOf({ content: "t", media: [], options, targets } as never);
  expect(own).toEqual({ a: { content: "X", title: "T" }, b: { content: "B", title: "T" } });
});

test("the texts of a draft are the one for all and those of single accounts", () => {
  const own = { a: { content: "For a" }, b: { title: "Title only" } };
  expect(textsOf({ text: "For all", own })).toEqual(["For all", "For a"]);
});

test("files stand in the order in which they were chosen, whichever is ready first, after those that were there", () => {
  const orders = new Map([
    ["b", 2],
    ["c", 3],
    ["a", 1],
  ]);
  const before: Draft = { ...draft, media: [file("old")] };
  const after = [...orders.keys()].reduce(
    (all, id) => withReadyMedia(all, file(id), orders),
    before,
  );
  expect(after.media.map(({ id }) => id)).toEqual(["old", "a", "b", "c"]);
  const moved = withReadyMedia(moveMedia(before, 0, 0), file("c"), orders);
  expect(withReadyMedia(moved, file("a"), orders).media.map(({ id }) => id)).toEqual([
    "old",
    "a",
    "c",
  ]);
});
