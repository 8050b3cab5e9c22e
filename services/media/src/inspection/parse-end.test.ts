import { expect, test } from "vitest";
import { parseEnd } from "./parse-end.ts";

const SHA256 = "a".repeat(64);
const MEDIA = {
  kind: "image",
  contentType: "image/png",
  bytes: 1000,
  sha256: SHA256,
  width: 4,
  height: 3,
  durationMs: null,
  frames: 1,
  delivery: { kind: "same" },
};
const REWRITTEN = { kind: "rewritten", bytes: 900, sha256: SHA256, contentType: "image/png" };

function parseAccepted(change: object) {
  const media = { ...MEDIA, ...change };
  return parseEnd({ kind: "done", result: { kind: "accepted", media } }, 1000);
}

test("a valid result of an inspection is copied without its unexpected fields", () => {
  const delivery = { ...REWRITTEN, path: "/proc/self/environ", extra: 1 };

  expect(parseAccepted({ extra: 1 })).toEqual({
    kind: "done",
    result: { kind: "accepted", media: MEDIA },
  });
  expect(parseAccepted({ delivery })).toMatchObject({
    result: { media: { delivery: { ...REWRITTEN, path: "" } } },
  });
  const violation = { code: "media_too_large", message: "large", limit: 1, actual: 2 };
  expect(parseEnd({ kind: "done", result: { kind: "rejected", violation } }, 1000)).toEqual({
    kind: "done",
    result: { kind: "rejected", violation },
  });
  expect(parseEnd({ kind: "exhausted", what: "memory" }, 1000)).toEqual({
    kind: "exhausted",
    what: "memory",
  });
});

test.each([
  ["a media type that browsers execute", { contentType: "text/html" }],
  ["a kind that is not that of its media type", { kind: "video" }],
  ["another length than the file has", { bytes: 999 }],
  ["a hash that is not a SHA-256", { sha256: "../../x" }],
  ["a width that the database cannot store", { width: 2 ** 40 }],
  ["a duration that is not a number", { durationMs: "1" }],
  ["no number of frames", { frames: undefined }],
  ["a number of frames below zero", { frames: -1 }],
  ["a number of frames that the database cannot store", { frames: 2 ** 40 }],
  [
    "a file for platforms whose media type browsers execute",
    { delivery: { ...REWRITTEN, contentType: "text/html" } },
  ],
  ["a file for platforms that fills the disk", { delivery: { ...REWRITTEN, bytes: 10 ** 12 } }],
  [
    "a patch behind the end of the file",
    { delivery: { kind: "blanked", sha256: SHA256, patches: [{ offset: 999, bytes: "AAAA" }] } },
  ],
  [
    "a patch before the file",
    { delivery: { kind: "blanked", sha256: SHA256, patches: [{ offset: -1, bytes: "AA==" }] } },
  ],
  ["an unknown kind of file for platforms", { delivery: { kind: "linked", sha256: SHA256 } }],
])("a result of an inspection that reports %s is not valid", (_, change) => {
  expect(parseAccepted(change)).toBeUndefined();
});

test.each([undefined, null, "done", {}, { kind: "done" }, { kind: "done", result: { kind: "x" } }])(
  "the value %j is not a valid result of an inspection",
  (said) => {
    expect(parseEnd(said, 1000)).toBeUndefined();
  },
);

const MADE = { kind: "made", contentType: "image/jpeg", width: 4, height: 3, bytes: 900 };
const REFUSED = { kind: "refused", refusal: "animated" };

test("valid results of renditions are copied without their unexpected fields", () => {
  const said = { kind: "rendered", outcomes: [{ ...MADE, path: "/etc" }, REFUSED] };

  expect(parseEnd(said, 1000)).toEqual({ kind: "rendered", outcomes: [MADE, REFUSED] });
});

test.each([
  ["a media type that browsers execute", { ...MADE, contentType: "text/html" }],
  ["a file that fills the disk", { ...MADE, bytes: 10 ** 12 }],
  ["a width that the database cannot store", { ...MADE, width: 2 ** 40 }],
  ["an unknown reason", { kind: "refused", refusal: "<script>" }],
  ["an unknown result", { kind: "linked" }],
  ["nothing", null],
])("a result of a rendition that reports %s is not valid", (_, outcome) => {
  expect(parseEnd({ kind: "rendered", outcomes: [outcome] }, 1000)).toBeUndefined();
});

test("results of renditions that are not a list are not valid", () => {
  expect(parseEnd({ kind: "rendered", outcomes: "all" }, 1000)).toBeUndefined();
});
