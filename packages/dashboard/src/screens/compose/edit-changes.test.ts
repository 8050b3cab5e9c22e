import type { PostDetail } from "@postrider/client";
import { beforeAll, expect, test } from "vitest";
import { loadTemporal } from "../../time/load-temporal.ts";
import { composeKo } from "./compose-words.ts";
import { type Draft, emptyDraft, partsOf } from "./draft.ts";
import { changesOf, differingParts } from "./edit-changes.ts";
import { readSeed, slotOf, withSeed } from "./seed.ts";
import { obstacleOf, sendLabel } from "./send-label.ts";
import { whenAt } from "./when.ts";
import { composeEn } from "./words-en.ts";

beforeAll(loadTemporal);

const AT = "2026-12-04T09:00:00.000Z";
const post = {
  id: "p",
  content: "Hello",
  scheduledAt: AT,
  media: [],
  options: { a: { title: "Title", content: "Own" } },
  targets: [
    { accountId: "a", platform: "youtube" },
    { accountId: "b", platform: "x" },
  ],
} as unknown as PostDetail;
const draftOf = (changes: Partial<Draft> = {}): Draft => ({
  ...emptyDraft(whenAt(AT, "Asia/Seoul")),
  ...partsOf(post),
  ...changes,
});

test("a post that is opened and not changed has no changes to send", () => {
  expect(changesOf(post, draftOf())).toEqual({});
  expect(changesOf(post, draftOf({ accountIds: ["b", "a"] }))).toEqual({});
});

test("only what was changed is sent", () => {
  expect(changesOf(post, draftOf({ text: "Hi" }))).toEqual({ content: "Hi" });
  const later = whenAt("2026-12-04T10:00:00.000Z", "Asia/Seoul");
  expect(changesOf(post, draftOf({ when: later }))).toEqual({
    scheduledAt: "2026-12-04T10:00:00.000Z",
  });
});

test("an account that is added gets what the composer shows, not options that were given to its platform", () => {
  const options = { x: { content: "Short" } };
  const targets = [{ accountId: "a", platform: "x" }];
  const given = { ...post, options, targets } as unknown as PostDetail;
  const draft = { ...draftOf(), ...partsOf(given) };
  expect(changesOf(given, draft)).toEqual({});
  expect(changesOf(given, { ...draft, accountIds: ["a", "b"] })).toEqual({
    accountIds: ["a", "b"],
    options: { a: { content: "Short" } },
  });
});

test("two versions are compared part by part", () => {
  expect(differingParts(post, draftOf({ text: "Hi", own: {} }))).toEqual(["text", "own"]);
});

const seedOf = (search: string) => readSeed(search);
const known = { zone: "Asia/Seoul", media: [] };
const empty = emptyDraft({
  kind: "now",
  date: "2026-12-04",
  time: "18:00",
  zone: "Asia/Seoul",
  later: false,
});

test("an address proposes a text, accounts and a time", () => {
  const seed = seedOf("?text=Hi&accounts=a,b&at=2026-12-05T00:30:00Z");
  expect(withSeed(empty, seed, known)).toMatchObject({
    text: "Hi",
    accountIds: ["a", "b"],
    when: { kind: "at", date: "2026-12-05", time: "09:30" },
  });
});

test("what was written stays when an address proposes another text", () => {
  const written = { ...empty, text: "Mine", accountIds: ["c"], keptAt: 1 };
  expect(withSeed(written, seedOf("?text=Hi&accounts=a"), known)).toMatchObject({
    text: "Mine",
    accountIds: ["c"],
  });
});

test("a post that is changed for one account begins with what that account got", () => {
  const seed = seedOf("?from=p&account=a");
  const begun = withSeed(empty, seed, { ...known, post });
  expect(begun).toMatchObject({ text: "Own", accountIds: ["a"], own: { a: { title: "Title" } } });
  expect(begun.own["a"]).not.toHaveProperty("content");
  expect(slotOf(seed)).toBe("from.p.a");
});

test("a time that cannot be read is passed over", () => {
  expect(withSeed(empty, seedOf("?at=tomorrow"), known).when).toEqual(empty.when);
});

test("the button says what will happen", () => {
  const facts = { kind: "at", accounts: 6, isPlanned: false, slot: undefined } as const;
  const en = (changes: object) => sendLabel({ ...facts, ...changes }, composeEn.send);
  expect(en({})).toBe("Schedule for 6 accounts");
  expect(en({ accounts: 1 })).toBe("Schedule for 1 account");
  expect(en({ kind: "now" })).toBe("Publish to 6 accounts now");
  expect(en({ kind: "slot", slot: "Mon 30 Nov, 09:30" })).toBe(
    "Put into the next slot, Mon 30 Nov, 09:30",
  );
  expect(en({ isPlanned: true })).toBe("Save changes");
  expect(en({ accounts: 0 })).toBe("Choose accounts");
  expect(sendLabel(facts, composeKo.send)).toBe("계정 6개에 예약");
});

test("a button that cannot send yet leads to what is missing; a draft needs an account only", () => {
  const ready = { as: "send", uploads: 0, faults: 0, slot: undefined } as const;
  const obstacle = (changes: Partial<Draft>, more = {}) =>
    obstacleOf({ ...draftOf(), ...changes }, { ...ready, ...more });
  const { when } = draftOf();
  expect(obstacle({})).toBeUndefined();
  expect(obstacle({ accountIds: [] })).toBe("accounts");
  expect(obstacle({}, { uploads: 1 })).toBe("media");
  expect(obstacle({}, { faults: 2 })).toBe("faults");
  expect(obstacle({ when: { ...when, time: "" } })).toBe("time");
  expect(obstacle({ when: { ...when, kind: "slot" } })).toBe("time");
  expect(obstacle({ when: { ...when, time: "" } }, { as: "draft", faults: 2 })).toBeUndefined();
});
