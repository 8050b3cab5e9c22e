import { expect, test } from "vitest";
import { faultsEn } from "./fault-words-en.ts";
import { faultsKo } from "./fault-words-ko.ts";
import { faultWords } from "./fault-words.ts";
import { cureOf, type Fault, faultsOnTab, gatherFaults, toFault } from "./faults.ts";
import { composeEn } from "./words-en.ts";

const detail = (code: string, path: string, more = {}) =>
  toFault({
    code,
    message: "The server's sentence.",
    path,
    accountId: "a",
    platform: "x",
    ...more,
  });

test.each([
  ["/content", { place: "text", isOwn: false }],
  ["/options/x/content", { place: "text", isOwn: true }],
  ["/options/a/title", { place: "title", isOwn: true }],
  ["/options/youtube/privacy", { place: "privacy" }],
  ["/options/youtube/tags", { place: "tags" }],
  ["/options/youtube/tags/1", { place: "tags", index: undefined }],
  ["/mediaIds", { place: "media", index: undefined }],
  ["/mediaIds/2", { place: "media", index: 2 }],
  ["/scheduledAt", { place: "time" }],
  ["/accountIds/0", { place: "accounts" }],
])("a fault at %s is shown where it is mended", (path, place) => {
  expect(detail("any", path)).toMatchObject(place);
});

test.each([
  ["content_too_long", "/content", { kind: "own_text", accountId: "a" }],
  ["content_too_long", "/options/a/content", { kind: "go", place: "text", accountId: "a" }],
  ["content_required", "/content", { kind: "go", place: "text" }],
  ["title_required", "/options/x/title", { kind: "go", place: "title", accountId: "a" }],
  ["title_unsupported", "/options/a/title", { kind: "take_away", field: "title", accountId: "a" }],
  ["media_type_unsupported", "/mediaIds/0", { kind: "leave_out", accountId: "a" }],
  ["account_reconnect_required", "/accountIds/0", { kind: "leave_out", accountId: "a" }],
])("the cure of %s at %s", (code, path, cure) => {
  expect(cureOf(detail(code, path))).toEqual(cure);
});

test("a fault of the whole post leads to its place, and a file that is gone is removed", () => {
  const whole = { accountId: undefined, platform: undefined };
  expect(cureOf(detail("schedule_in_past", "/scheduledAt", whole))).toEqual({
    kind: "go",
    place: "time",
  });
  expect(cureOf(detail("unknown_media", "/mediaIds/1", whole))).toEqual({
    kind: "remove_media",
    index: 1,
  });
});

test("a tab is marked for what is mended on it, not for what is mended elsewhere", () => {
  const faults = [
    detail("title_required", "/options/x/title"),
    detail("content_too_long", "/content"),
    detail("content_too_long", "/options/a/content"),
    detail("media_required", "/mediaIds"),
  ];
  expect(faultsOnTab(faults, "a").map(({ code }) => code)).toEqual([
    "title_required",
    "content_too_long",
  ]);
  expect(faultsOnTab(faults, "b")).toEqual([]);
});

const videos = { id: "a", rules: { kinds: ["video", "short"] } };
const all = { id: "a", rules: { kinds: ["text", "image"] } };
const codes = (faults: readonly Fault[]) => faults.map(({ code }) => code);

test("faults of several files with one cure are one thing to fix", () => {
  const faults = [0, 1, 2].map((index) => detail("media_type_unsupported", `/mediaIds/${index}`));
  expect(codes(gatherFaults(faults, [all]))).toEqual(["media_type_unsupported"]);
});

test("a platform that takes one video says so once, whatever is wrong with each picture", () => {
  const faults = [
    detail("too_many_media", "/mediaIds"),
    detail("media_type_unsupported", "/mediaIds/0"),
    detail("title_required", "/options/x/title"),
  ];
  expect(codes(gatherFaults(faults, [videos]))).toEqual(["needs_video", "title_required"]);
});

const naming = { words: composeEn, language: "en", nameOf: () => "Bluesky" };

test("a fault is told with its figures, in whole sentences", () => {
  const long = detail("content_too_long", "/content", { limit: 300, actual: 1310 });
  expect(faultWords(long, naming)).toEqual(["The text is too long:", "1,310 of 300 characters."]);
  const bytes = detail("content_too_long", "/content", {
    limit: 5000,
    actual: 5001,
    unit: "bytes",
  });
  expect(faultWords(bytes, naming)[1]).toBe("5,001 of 5,000 bytes.");
});

test("a fault that the page has no words for is told in the server's", () => {
  expect(faultWords(detail("new_code", "/content"), naming)[0]).toBe("The server's sentence.");
});

test("every fault has words in both languages", () => {
  expect(Object.keys(faultsKo).toSorted()).toEqual(Object.keys(faultsEn).toSorted());
});
