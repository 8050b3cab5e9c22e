import { expect, expectTypeOf, test } from "vitest";
import { PLATFORM_IDS, type PlatformId } from "#src/platform-id.ts";
import { PLATFORM_FACTS } from "#src/registry.ts";
import type { SettingFields, SettingsOf } from "./field.ts";
import { patchSchema, settingsSchemaOf } from "./json-schema.ts";
import { applyPatch, checkPatch, findValueFault, readSettings } from "./read-settings.ts";

test("an account without stored settings has the safe defaults of its platform", () => {
  const defaults = Object.fromEntries(
    PLATFORM_IDS.map((id) => [id, readSettings(PLATFORM_FACTS[id].settings, {})]),
  );
  expect(defaults).toEqual({
    instagram: { imageFit: "refuse", shareToFeed: true },
    x: { replySettings: "everyone" },
    facebook: { imageFit: "refuse" },
    tiktok: {
      allowComment: false,
      allowDuet: false,
      allowStitch: false,
      disclosure: "none",
      autoAddMusic: false,
      unlistedAs: "only_me",
    },
    youtube: {
      categoryId: "22",
      madeForKids: false,
      notifySubscribers: true,
      license: "youtube",
      playlistId: null,
    },
    telegram: { format: "plain", silent: false, linkPreview: true },
    bluesky: { languages: [] },
  });
});

test("readSettings replaces the unknown value of a setting with the default and keeps the other settings", () => {
  const stored = { unlistedAs: "everyone", allowDuet: "yes", allowComment: true, future: 1 };
  expect(readSettings(PLATFORM_FACTS.tiktok.settings, stored)).toEqual({
    ...readSettings(PLATFORM_FACTS.tiktok.settings, {}),
    allowComment: true,
  });
});

test.each([undefined, null, "text", 7, [], ["format"]])(
  "readSettings returns the defaults when %j is stored instead of an object",
  (stored) => {
    expect(readSettings(PLATFORM_FACTS.telegram.settings, stored)).toEqual(
      readSettings(PLATFORM_FACTS.telegram.settings, {}),
    );
  },
);

test("the TypeScript type of each account setting follows from the definition of that setting", () => {
  expectTypeOf<SettingsOf<typeof PLATFORM_FACTS.youtube.settings>["playlistId"]>().toEqualTypeOf<
    string | null
  >();
  expectTypeOf<
    SettingsOf<typeof PLATFORM_FACTS.youtube.settings>["categoryId"]
  >().toEqualTypeOf<string>();
  expectTypeOf<SettingsOf<typeof PLATFORM_FACTS.x.settings>["replySettings"]>().toEqualTypeOf<
    "everyone" | "following" | "mentioned"
  >();
  expectTypeOf<SettingsOf<typeof PLATFORM_FACTS.bluesky.settings>["languages"]>().toEqualTypeOf<
    readonly string[]
  >();
  expectTypeOf<
    SettingsOf<typeof PLATFORM_FACTS.telegram.settings>["silent"]
  >().toEqualTypeOf<boolean>();
});

const TIKTOK = Object.keys(PLATFORM_FACTS.tiktok.settings);

test("checkPatch reports every unknown setting and wrong value with its path and what is allowed", () => {
  const patch = {
    allowDuet: "no",
    unlistedAs: "public",
    imageFit: "pad",
    "a/b~c": 1,
    disclosure: null,
  };
  expect(checkPatch(PLATFORM_FACTS.tiktok.settings, patch)).toEqual([
    { code: "type", path: "/allowDuet" },
    { code: "not_allowed", path: "/unlistedAs", allowed: ["friends", "followers", "only_me"] },
    { code: "additional_property", path: "/imageFit", allowed: TIKTOK },
    { code: "additional_property", path: "/a~1b~0c", allowed: TIKTOK },
  ]);
  expect(checkPatch(PLATFORM_FACTS.bluesky.settings, { languages: ["en", "not a tag"] })).toEqual([
    { code: "format", path: "/languages/1" },
  ]);
  expect(
    checkPatch(PLATFORM_FACTS.bluesky.settings, { languages: ["en", "ko", "de", "fr"] }),
  ).toEqual([{ code: "max_items", path: "/languages", limit: 3, actual: 4 }]);
  expect(checkPatch(PLATFORM_FACTS.bluesky.settings, { languages: ["en", "en"] })).toEqual([
    { code: "unique", path: "/languages/1" },
  ]);
  expect(
    checkPatch(PLATFORM_FACTS.youtube.settings, { playlistId: "x".repeat(65), categoryId: 22 }),
  ).toEqual([
    { code: "too_long", path: "/playlistId", limit: 64, actual: 65 },
    { code: "type", path: "/categoryId" },
  ]);
});

test.each(["constructor", "__proto__", "toString"])(
  "checkPatch refuses %s, a name that every JavaScript object inherits, as an unknown setting",
  (name) => {
    const patch = JSON.parse(`{"${name}":true}`) as Record<string, unknown>;
    expect(checkPatch(PLATFORM_FACTS.x.settings, patch)).toEqual([
      { code: "additional_property", path: `/${name}`, allowed: ["replySettings"] },
    ]);
  },
);

test("applyPatch replaces the settings that a patch names, resets those that the patch sets to null and keeps the settings that it does not name", () => {
  const stored = { format: "html", silent: true, future: 1 };
  expect(applyPatch(stored, { silent: null, linkPreview: false })).toEqual({
    format: "html",
    linkPreview: false,
    future: 1,
  });
});

test.each(PLATFORM_IDS)("every default of %s is a valid value of its setting", (id) => {
  const fields: SettingFields = PLATFORM_FACTS[id].settings;
  for (const [name, field] of Object.entries(fields))
    expect(findValueFault(field, field.default), name).toBeUndefined();
});

test("settings with the same name have the same definition on all platforms that have them", () => {
  const fields = PLATFORM_IDS.flatMap((id: PlatformId) =>
    Object.entries(PLATFORM_FACTS[id].settings as SettingFields),
  );
  const byName = new Map(fields);
  for (const [name, field] of fields) expect(byName.get(name), name).toEqual(field);
});

test("the JSON schema of a platform's account settings lists all of them, and the schema of a patch accepts null for each setting", () => {
  expect(settingsSchemaOf(PLATFORM_FACTS.x.settings)).toEqual({
    type: "object",
    properties: {
      replySettings: {
        type: "string",
        enum: ["everyone", "following", "mentioned"],
        description: PLATFORM_FACTS.x.settings.replySettings.description,
        default: "everyone",
      },
    },
    required: ["replySettings"],
  });
  const { properties, ...rest } = patchSchema(
    PLATFORM_IDS.map((id) => PLATFORM_FACTS[id].settings),
  );
  expect(rest).toEqual({ type: "object", additionalProperties: false, minProperties: 1 });
  expect(properties).toMatchObject({
    imageFit: { type: ["string", "null"], enum: ["refuse", "pad", "crop", null] },
    shareToFeed: { type: ["boolean", "null"] },
    playlistId: { type: ["string", "null"], maxLength: 64 },
    languages: { type: ["array", "null"], maxItems: 3, uniqueItems: true },
  });
});
