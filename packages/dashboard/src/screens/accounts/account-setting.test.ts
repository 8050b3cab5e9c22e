import type { AccountSettings } from "@postrider/client";
import { expect, test } from "vitest";
import { defaultsOf, isRefused, patchOf, SETTINGS, valuesOf } from "./account-setting.ts";

const bluesky: AccountSettings = {
  accountId: "a",
  platform: "bluesky",
  settings: { languages: ["en", "ko"] },
  available: null,
};
const tiktok: AccountSettings = {
  accountId: "a",
  platform: "tiktok",
  settings: {
    allowComment: false,
    allowDuet: false,
    allowStitch: false,
    disclosure: "none",
    autoAddMusic: false,
    unlistedAs: "only_me",
  },
  available: { audiences: ["public", "only_me"], allowStitch: false },
};

test("only what was changed is sent", () => {
  const before = valuesOf(tiktok);
  expect(patchOf(before, before)).toEqual({});
  expect(patchOf(before, { ...before, allowComment: true })).toEqual({ allowComment: true });
});

test("languages are typed with commas and sent as a list, and nothing is the default", () => {
  const before = valuesOf(bluesky);
  expect(before).toEqual({ languages: "en, ko" });
  expect(patchOf(before, { languages: " pt-BR,ko " })).toEqual({ languages: ["pt-BR", "ko"] });
  expect(patchOf(before, { languages: " " })).toEqual({ languages: null });
});

test("what TikTok does not offer now is refused, and without its answer nothing is", () => {
  expect(isRefused(tiktok, "allowStitch", "true")).toBe(true);
  expect(isRefused(tiktok, "allowDuet", "true")).toBe(false);
  expect(isRefused(tiktok, "unlistedAs", "friends")).toBe(true);
  expect(isRefused(tiktok, "unlistedAs", "only_me")).toBe(false);
  expect(isRefused({ ...tiktok, available: null }, "unlistedAs", "friends")).toBe(false);
});

test("the drawer of a platform has each of its settings", () => {
  for (const read of [bluesky, tiktok])
    expect(SETTINGS[read.platform].toSorted()).toEqual(Object.keys(read.settings).toSorted());
  expect(defaultsOf("facebook")).toEqual({ imageFit: null });
});
