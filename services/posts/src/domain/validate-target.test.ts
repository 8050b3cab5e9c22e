import { PLATFORM_IDS, type PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { UNIT_NAMES } from "@postrider/platforms/text/unit-names";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { TargetInput, TargetMedia } from "./post.ts";
import { validateTarget } from "./validate-target.ts";

const image = (change: Partial<TargetMedia> = {}): TargetMedia => ({
  kind: "image",
  contentType: "image/jpeg",
  bytes: 1_000_000,
  width: 1080,
  height: 1080,
  durationMs: null,
  frames: 1,
  altText: null,
  ...change,
});

const video = (change: Partial<TargetMedia> = {}): TargetMedia => ({
  kind: "video",
  contentType: "video/mp4",
  bytes: 5_000_000,
  width: 720,
  height: 1280,
  durationMs: 30_000,
  frames: 0,
  altText: null,
  ...change,
});

const animation = (change: Partial<TargetMedia> = {}): TargetMedia =>
  image({ contentType: "image/gif", width: 400, height: 400, frames: 12, ...change });

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

/** For each platform, a target that breaks none of its rules. */
const VALID = {
  instagram: { platform: "instagram", text: "hello", media: [image()] },
  x: { platform: "x", text: "hello", media: [] },
  facebook: { platform: "facebook", text: "hello", media: [] },
  tiktok: { platform: "tiktok", text: "hello", privacy: "private", media: [video()] },
  youtube: { platform: "youtube", text: "hello", title: "A title", media: [video()] },
  telegram: { platform: "telegram", text: "hello", media: [] },
  bluesky: { platform: "bluesky", text: "hello", media: [] },
} satisfies Record<PlatformId, TargetInput>;

const unitOf = (platform: PlatformId) => UNIT_NAMES[PLATFORM_FACTS[platform].rules.text.unit];
const check = (platform: PlatformId, change: Partial<TargetInput>) =>
  validateTarget({ ...VALID[platform], ...change });

const media = (code: string, more: object = {}) => ({ code, field: "media", ...more });

test.each(PLATFORM_IDS)("a post that follows the rules of %s has no violation", (platform) => {
  expect(check(platform, {})).toEqual([]);
});

test.each<[PlatformId, string, TargetMedia[], number, number]>([
  ["instagram", "a".repeat(2201), [image()], 2200, 2201],
  ["x", "한".repeat(141), [], 280, 282],
  ["x", `${"a".repeat(258)} example.com`, [], 280, 282],
  ["facebook", "a".repeat(63_207), [], 63_206, 63_207],
  ["tiktok", "a".repeat(2201), [video()], 2200, 2201],
  ["tiktok", "a".repeat(4001), [image()], 4000, 4001],
  ["youtube", "é".repeat(2501), [video()], 5000, 5002],
  ["telegram", "a".repeat(4097), [], 4096, 4097],
  ["telegram", "a".repeat(1025), [image()], 1024, 1025],
])(
  "a text above the text limit of %s is refused (case %#)",
  (platform, text, items, limit, actual) => {
    expect(check(platform, { text, media: items })).toEqual([
      { code: "content_too_long", field: "content", limit, actual, unit: unitOf(platform) },
    ]);
  },
);

test("a text for Bluesky is limited both in graphemes and in bytes", () => {
  expect(check("bluesky", { text: "a".repeat(301) })).toEqual([
    { code: "content_too_long", field: "content", limit: 300, actual: 301, unit: "graphemes" },
  ]);
  expect(check("bluesky", { text: "👨‍👩‍👧‍👦".repeat(121) })).toEqual([
    { code: "content_too_long", field: "content", limit: 3000, actual: 3025, unit: "bytes" },
  ]);
  expect(check("bluesky", { text: "👨‍👩‍👧‍👦".repeat(301) })).toHaveLength(2);
});

test("a text that is exactly as long as the platform's limit is accepted", () => {
  expect(check("x", { text: "a".repeat(280) })).toEqual([]);
  expect(check("telegram", { text: "a".repeat(1024), media: [image()] })).toEqual([]);
  expect(check("bluesky", { text: "e\u0301".repeat(300) })).toEqual([]);
});

test.each(["", " \n\t\u3000"])(
  "the text %j counts as no content and is only accepted with media",
  (text) => {
    for (const platform of ["x", "facebook", "telegram", "bluesky"] as const) {
      expect(check(platform, { text })).toEqual([{ code: "content_required", field: "content" }]);
      expect(check(platform, { text, media: [image()] })).toEqual([]);
    }
    expect(check("instagram", { text, media: [] })).toEqual([
      { code: "content_required", field: "content" },
      media("media_required", { limit: 1, actual: 0 }),
    ]);
  },
);

test("a text for Instagram has at most 30 hashtags and 20 mentions", () => {
  expect(check("instagram", { text: "#a ".repeat(30) + "@b ".repeat(20) })).toEqual([]);
  expect(check("instagram", { text: "#a ".repeat(31) + "@b ".repeat(21) })).toEqual([
    { code: "too_many_hashtags", field: "content", limit: 30, actual: 31 },
    { code: "too_many_mentions", field: "content", limit: 20, actual: 21 },
  ]);
});

test("a text for X has at most one cashtag", () => {
  expect(check("x", { text: "$AAPL rises, it costs $5" })).toEqual([]);
  expect(check("x", { text: "$AAPL and $TSLA up" })).toEqual([
    { code: "too_many_cashtags", field: "content", limit: 1, actual: 2 },
  ]);
  expect(check("bluesky", { text: "$AAPL and $TSLA up" })).toEqual([]);
});

test("a video for X is at most three times as wide as high, and at most three times as high as wide", () => {
  const sized = (width: number, height: number) =>
    check("x", { media: [video({ width, height })] });
  expect(sized(1500, 500)).toEqual([]);
  expect(sized(500, 1500)).toEqual([]);
  const wide = { code: "media_dimensions", limit: 3, actual: 5, fits: "width / height ≤ 3" };
  expect(sized(2000, 400)).toMatchObject([wide]);
  expect(sized(400, 2000)).toMatchObject([{ code: "media_dimensions", actual: 0.2 }]);
});

test("the violation about angle brackets in a text or title for YouTube lists each refused character with its positions", () => {
  expect(check("youtube", { text: "😀 < b", title: "I <3 it" })).toEqual([
    { code: "forbidden_characters", field: "content", found: "< (3)" },
    { code: "forbidden_characters", field: "title", found: "< (3)" },
  ]);
  expect(check("youtube", { text: "a", title: `<b>${"<".repeat(9)}` })).toEqual([
    { code: "forbidden_characters", field: "title", found: "< (1, 4, 5, 6, 7), > (3)" },
  ]);
});

test.each(PLATFORM_IDS)(
  "a text for %s with more than 30 combining marks in a row is refused for the marks and not for its length",
  (platform) => {
    const marks = (count: number) => `a${"\u0301".repeat(count)}`;
    expect(check(platform, { text: marks(30) })).toEqual([]);
    expect(check(platform, { text: marks(20_000) })).toEqual([
      { code: "forbidden_characters", field: "content", limit: 30, actual: 20_000 },
    ]);
  },
);

test("a title with more than 30 combining marks in a row is refused", () => {
  const title = `a${"\u0301".repeat(31)}`;
  expect(check("youtube", { title })).toEqual([
    { code: "forbidden_characters", field: "title", limit: 30, actual: 31 },
  ]);
});

test("YouTube requires a title, and a title of white space counts as missing", () => {
  for (const title of [undefined, "", "  "])
    expect(check("youtube", { title })).toEqual([{ code: "title_required", field: "title" }]);

  expect(check("youtube", { title: "a".repeat(101) })).toEqual([
    { code: "title_too_long", field: "title", limit: 100, actual: 101, unit: "utf16_units" },
  ]);
});

test.each(["instagram", "x", "telegram", "bluesky"] as const)(
  "a post title is refused on %s",
  (platform) => {
    expect(check(platform, { title: "A" })).toEqual([
      { code: "title_unsupported", field: "title" },
    ]);
    expect(check(platform, { title: "" })).toEqual([]);
  },
);

test("a title is accepted for photos on TikTok and for videos on Facebook, and refused for other posts on these platforms", () => {
  const unsupported = [{ code: "title_unsupported", field: "title" }];
  expect(check("tiktok", { title: "A", media: [image()] })).toEqual([]);
  expect(check("tiktok", { title: "A", media: times(3, image()) })).toEqual([]);
  expect(check("tiktok", { title: "A" })).toEqual(unsupported);
  expect(check("tiktok", { title: "a".repeat(91), media: [image()] })).toEqual([
    { code: "title_too_long", field: "title", limit: 90, actual: 91, unit: "utf16_units" },
  ]);
  expect(check("facebook", { title: "A", media: [video()] })).toEqual([]);
  expect(check("facebook", { title: "A" })).toEqual(unsupported);
  expect(check("facebook", { title: "A", media: [image()] })).toEqual(unsupported);
});

test("a post for TikTok without a privacy setting is refused", () => {
  expect(check("tiktok", { privacy: undefined })).toEqual([
    { code: "privacy_required", field: "privacy", fits: ["public", "unlisted", "private"] },
  ]);
});

test.each<[PlatformId, string[]]>([
  ["instagram", ["public"]],
  ["x", ["public"]],
  ["facebook", ["public"]],
  ["tiktok", ["public", "unlisted", "private"]],
  ["youtube", ["public", "unlisted", "private"]],
  ["telegram", ["public"]],
  ["bluesky", ["public"]],
])("a post for %s can only have the privacy settings %j", (platform, taken) => {
  for (const privacy of ["public", "unlisted", "private"])
    expect(check(platform, { privacy }), privacy).toEqual(
      taken.includes(privacy)
        ? []
        : [{ code: "privacy_unsupported", field: "privacy", fits: taken }],
    );
});

test.each(PLATFORM_IDS)(
  "tags are refused on %s unless the platform has a field for them",
  (platform) => {
    expect(check(platform, { tags: ["a"] })).toEqual(
      platform === "youtube" ? [] : [{ code: "tags_unsupported", field: "tags" }],
    );
    expect(check(platform, { tags: [] })).toEqual([]);
  },
);

test("the length of YouTube tags includes the commas between them and two quotation marks for each tag with a space", () => {
  expect(check("youtube", { tags: ["a".repeat(249), "b".repeat(250)] })).toEqual([]);
  expect(check("youtube", { tags: ["a".repeat(250), "b".repeat(250)] })).toEqual([
    { code: "tags_too_long", field: "tags", limit: 500, actual: 501, unit: "utf16_units" },
  ]);
  expect(check("youtube", { tags: [`${"a".repeat(248)} b`, "c".repeat(248)] })).toEqual([
    { code: "tags_too_long", field: "tags", limit: 500, actual: 501, unit: "utf16_units" },
  ]);
});

test("the violation about a YouTube tag names the tag, and what is wrong with it", () => {
  expect(check("youtube", { tags: ["fine", "I <3 it", "", "  "] })).toEqual([
    { code: "forbidden_characters", field: "tags", index: 1, found: "< (3)" },
    { code: "tag_blank", field: "tags", index: 2 },
    { code: "tag_blank", field: "tags", index: 3 },
  ]);
});

test.each<[PlatformId, TargetMedia[], object[]]>([
  ["instagram", [], [media("media_required", { limit: 1, actual: 0 })]],
  ["instagram", times(10, image()), []],
  ["instagram", times(11, image()), [media("too_many_media", { limit: 10, actual: 11 })]],
  ["instagram", [image(), video()], []],
  ["x", times(4, image()), []],
  ["x", times(5, image()), [media("too_many_media", { limit: 4, actual: 5 })]],
  ["x", times(2, video()), [media("too_many_media", { limit: 1, actual: 2 })]],
  ["x", [image(), video()], [media("media_mix_unsupported")]],
  ["x", [animation()], []],
  ["x", times(2, animation()), [media("too_many_media", { limit: 1, actual: 2 })]],
  ["x", [image(), animation()], [media("media_mix_unsupported")]],
  ["x", times(4, animation({ frames: 1 })), []],
  ["telegram", [animation()], []],
  ["telegram", [image(), animation()], [media("media_mix_unsupported")]],
  ["telegram", [image(), animation({ frames: 1 }), video()], []],
  ["facebook", times(10, image()), []],
  ["facebook", times(11, image()), [media("too_many_media", { limit: 10, actual: 11 })]],
  ["facebook", [image(), video()], [media("media_mix_unsupported")]],
  ["tiktok", [], [media("media_required", { limit: 1, actual: 0 })]],
  ["tiktok", times(35, image()), []],
  ["tiktok", times(36, image()), [media("too_many_media", { limit: 35, actual: 36 })]],
  ["tiktok", times(2, video()), [media("too_many_media", { limit: 1, actual: 2 })]],
  ["youtube", [], [media("media_required", { limit: 1, actual: 0 })]],
  ["youtube", times(2, video()), [media("too_many_media", { limit: 1, actual: 2 })]],
  [
    "youtube",
    [image()],
    [
      media("media_type_unsupported", {
        index: 0,
        fits: "video/*, application/octet-stream",
      }),
    ],
  ],
  ["telegram", [image(), video(), image()], []],
  ["telegram", times(11, image()), [media("too_many_media", { limit: 10, actual: 11 })]],
  ["bluesky", times(4, image()), []],
  ["bluesky", times(5, image()), [media("too_many_media", { limit: 4, actual: 5 })]],
  ["bluesky", [image(), video()], [media("media_mix_unsupported")]],
])(
  "the number and combination of media on %s is checked (case %#)",
  (platform, items, expected) => {
    expect(check(platform, { media: items })).toEqual(expected);
  },
);

const RATIO =
  'width / height 0.8–1.91; imageFit "pad" | "crop": PATCH /accounts/{accountId}/settings';
const MP4_MOV = "video/mp4, video/quicktime";

test.each<[PlatformId, TargetMedia, object]>([
  [
    "instagram",
    animation(),
    media("media_type_unsupported", { fits: "image/jpeg (1 frame); video/mp4 (animation)" }),
  ],
  [
    "instagram",
    video({ contentType: "video/webm" }),
    media("media_type_unsupported", { fits: MP4_MOV }),
  ],
  [
    "instagram",
    image({ width: 700, height: 1000 }),
    media("media_dimensions", { limit: 0.8, actual: 0.7, fits: RATIO }),
  ],
  [
    "instagram",
    image({ width: 2000, height: 1000 }),
    media("media_dimensions", { limit: 1.91, actual: 2, fits: RATIO }),
  ],
  [
    "instagram",
    video({ durationMs: 2_999 }),
    media("media_duration", { limit: 3, actual: 2.999, fits: "3–900 s" }),
  ],
  [
    "instagram",
    video({ durationMs: 900_001 }),
    media("media_duration", { limit: 900, actual: 900.001, fits: "3–900 s" }),
  ],
  [
    "x",
    animation({ contentType: "image/webp" }),
    media("media_type_unsupported", {
      fits: "image/gif; image/jpeg, image/png, image/webp (1 frame)",
    }),
  ],
  [
    "x",
    animation({ bytes: 15_000_001 }),
    media("media_too_large", { limit: 15_000_000, actual: 15_000_001 }),
  ],
  [
    "x",
    animation({ width: 1281 }),
    media("media_dimensions", { limit: 1280, actual: 1281, fits: "width ≤ 1280 px" }),
  ],
  [
    "x",
    video({ durationMs: 499 }),
    media("media_duration", { limit: 0.5, actual: 0.499, fits: "0.5–140 s" }),
  ],
  [
    "x",
    video({ durationMs: 140_001 }),
    media("media_duration", { limit: 140, actual: 140.001, fits: "0.5–140 s" }),
  ],
  [
    "facebook",
    image({ contentType: "image/avif" }),
    media("media_type_unsupported", {
      fits: "image/jpeg, image/png, image/gif, image/bmp, image/tiff, image/webp (1 frame)",
    }),
  ],
  [
    "facebook",
    video({ bytes: 1_000_000_001 }),
    media("media_too_large", { limit: 1_000_000_000, actual: 1_000_000_001 }),
  ],
  [
    "tiktok",
    video({ width: 359 }),
    media("media_dimensions", { limit: 360, actual: 359, fits: "width, height 360–4096 px" }),
  ],
  [
    "tiktok",
    video({ height: 4097 }),
    media("media_dimensions", { limit: 4096, actual: 4097, fits: "width, height 360–4096 px" }),
  ],
  [
    "tiktok",
    video({ durationMs: 600_001 }),
    media("media_duration", { limit: 600, actual: 600.001, fits: "0–600 s" }),
  ],
  [
    "youtube",
    video({ durationMs: 43_200_001 }),
    media("media_duration", { limit: 43_200, actual: 43_200.001, fits: "0–43200 s" }),
  ],
  [
    "telegram",
    image({ width: 100, height: 2100 }),
    media("media_dimensions", { limit: 20, actual: 21, fits: "long side / short side ≤ 20" }),
  ],
  [
    "telegram",
    video({ bytes: 50_000_001 }),
    media("media_too_large", { limit: 50_000_000, actual: 50_000_001 }),
  ],
  [
    "bluesky",
    video({ contentType: "video/quicktime" }),
    media("media_type_unsupported", { fits: "video/mp4" }),
  ],
  [
    "bluesky",
    video({ durationMs: 600_001 }),
    media("media_duration", { limit: 600, actual: 600.001, fits: "0–600 s" }),
  ],
])(
  "the violation of a media item on %s says which limit it breaks and what would fit (case %#)",
  (platform, item, expected) => {
    expect(check(platform, { media: [item] })).toEqual([{ ...expected, index: 0 }]);
  },
);

test.each<[PlatformId, TargetMedia]>([
  ["instagram", image({ contentType: "image/png" })],
  ["instagram", image({ contentType: "image/heic", bytes: 8_000_001 })],
  ["instagram", image({ width: 200, height: 200 })],
  ["x", image({ contentType: "image/tiff" })],
  ["x", image({ bytes: 5_000_001 })],
  ["facebook", image({ contentType: "image/heic" })],
  ["tiktok", image({ contentType: "image/png", width: 4032, height: 3024 })],
  ["telegram", image({ contentType: "image/tiff", width: 9000, height: 6000 })],
  ["bluesky", image({ bytes: 20_000_000, width: 9000, height: 6000 })],
])("an image that is converted for %s has no violation (case %#)", (platform, item) => {
  expect(check(platform, { media: [item] })).toEqual([]);
});

test("an image outside the aspect ratios that a platform accepts has no violation if the settings of the account have it padded or cropped", () => {
  const tall = [image({ width: 700, height: 1000 })];
  expect(check("instagram", { media: tall, settings: {} })).toHaveLength(1);
  expect(check("instagram", { media: tall, settings: { imageFit: "pad" } })).toEqual([]);
  expect(check("instagram", { media: tall, settings: { imageFit: "crop" } })).toEqual([]);
});

test("the violation of an item of media contains its index in the list of media", () => {
  const found = check("instagram", { media: [image(), animation()] });
  expect(found).toEqual([
    media("media_type_unsupported", {
      index: 1,
      fits: "image/jpeg (1 frame); video/mp4 (animation)",
    }),
  ]);
});

test("an item of media with unknown dimensions is not checked for its dimensions", () => {
  const unknown = { width: null, height: null, durationMs: null };
  expect(check("instagram", { media: [image(unknown), video(unknown)] })).toEqual([]);
  expect(check("youtube", { media: [video({ ...unknown, contentType: "video/x-flv" })] })).toEqual(
    [],
  );
});

test.each([
  ["private", {}, true],
  ["unlisted", {}, true],
  ["unlisted", { unlistedAs: "friends" }, false],
  ["public", {}, false],
  ["private", { disclosure: "own_brand" }, false],
])(
  "a paid TikTok post with the privacy %s and the settings %j is refused only if its creator alone sees it",
  (privacy, settings, isRefused) => {
    expect(check("tiktok", { privacy, settings: { disclosure: "paid", ...settings } })).toEqual(
      isRefused ? [{ code: "disclosure_not_private", field: "privacy" }] : [],
    );
  },
);

const HTML = { format: "html" };

test("a Telegram text in HTML is counted as readers see it", () => {
  const text = `<b>${"a".repeat(4095)}</b>&amp;`;
  expect(check("telegram", { text, settings: HTML })).toEqual([]);
  expect(check("telegram", { text: `${text}a`, settings: HTML })).toEqual([
    { code: "content_too_long", field: "content", limit: 4096, actual: 4097, unit: "utf16_units" },
  ]);
  expect(check("telegram", { text })).toMatchObject([{ code: "content_too_long" }]);
});

test.each([
  ["<b>a", [], "markup_invalid"],
  ["1 < 2", [image()], "markup_invalid"],
  ["<b></b>", [], "content_required"],
  ["&amp;".repeat(6554), [], "content_too_long"],
])("a Telegram text in HTML like %j is refused", (text, files, code) => {
  expect(check("telegram", { text, media: files, settings: HTML })).toMatchObject([
    { code, field: "content" },
  ]);
});

test("HTML counts as plain text for Telegram accounts without the HTML setting and for other platforms", () => {
  expect(check("telegram", { text: "1 < 2" })).toEqual([]);
  expect(check("bluesky", { text: "1 < 2", settings: HTML })).toEqual([]);
});

test("all violations of a target are reported at once", () => {
  const found = check("youtube", {
    text: `<${"a".repeat(5000)}`,
    title: "",
    privacy: "friends",
    tags: ["a".repeat(501)],
    media: [image(), image({ bytes: 2_000_001 })],
  });
  expect(found.map(({ code }) => code)).toEqual([
    "content_too_long",
    "forbidden_characters",
    "title_required",
    "privacy_unsupported",
    "tags_too_long",
    "too_many_media",
    "media_type_unsupported",
    "media_type_unsupported",
  ]);
});

test("a text that is too long stays too long when characters are appended", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PLATFORM_IDS),
      fc.string({ unit: "grapheme", minLength: 1 }),
      fc.integer({ min: 1, max: 400 }),
      (platform, piece, count) => {
        const isTooLong = (text: string) =>
          check(platform, { text }).some(({ code }) => code === "content_too_long");
        fc.pre(isTooLong(`x ${piece.repeat(count)} `));
        expect(isTooLong(`x ${piece.repeat(count)} x`)).toBe(true);
      },
    ),
  );
});

test("a violation that is reported for a target contains the limit that the platform's rules define", () => {
  for (const platform of PLATFORM_IDS) {
    const { max } = PLATFORM_FACTS[platform].rules.text;
    const [found] = check(platform, { text: "a".repeat(max + 1) });
    expect(found, platform).toEqual({
      code: "content_too_long",
      field: "content",
      limit: max,
      actual: max + 1,
      unit: unitOf(platform),
    });
  }
});

test.each(["blue", "business", "government"])(
  "an account of X with the verified type %s may write 25,000 weighted characters",
  (verifiedType) => {
    const traits = { verified_type: verifiedType };
    const tooLong = { code: "content_too_long", field: "content" };
    expect(check("x", { text: "한".repeat(12_500), traits })).toEqual([]);
    expect(check("x", { text: "한".repeat(12_501), traits })).toEqual([
      { ...tooLong, limit: 25_000, actual: 25_002, unit: "weighted_characters" },
    ]);
    expect(check("bluesky", { text: "a".repeat(301), traits })).toEqual([
      { ...tooLong, limit: 300, actual: 301, unit: "graphemes" },
    ]);
  },
);

test("an account of X without a verified type that we know may write 280 weighted characters", () => {
  const counts = { limit: 280, actual: 281, unit: "weighted_characters" };
  const tooLong = { code: "content_too_long", field: "content", ...counts };
  for (const traits of [{}, { verified_type: "none" }, { verified_type: "new" }, { other: "blue" }])
    expect(check("x", { text: "a".repeat(281), traits })).toEqual([tooLong]);
});

test.each<[PlatformId, TargetMedia, number]>([
  ["instagram", image(), 1000],
  ["x", image(), 1000],
])(
  "a media description of more than 1,000 characters is refused for a post on %s",
  (platform, item, limit) => {
    const described = (length: number) => ({ ...item, altText: "a".repeat(length) });
    expect(check(platform, { media: [described(limit)] })).toEqual([]);
    expect(check(platform, { media: [described(limit + 1)] })).toEqual([
      media("alt_text_too_long", { index: 0, limit, actual: limit + 1, unit: "utf16_units" }),
    ]);
  },
);

test.each<[PlatformId, TargetMedia]>([
  ["facebook", image()],
  ["telegram", image()],
  ["bluesky", image()],
  ["bluesky", video()],
  ["instagram", video()],
  ["x", video({ width: 1280, height: 720 })],
  ["youtube", video()],
])("a description of 1,500 characters is accepted for %s", (platform, item) => {
  expect(check(platform, { media: [{ ...item, altText: "a".repeat(1500) }] })).toEqual([]);
});

const PRIVATE_TIKTOK = {
  audiences: ["followers", "friends", "only_me"],
  allowComment: true,
  allowDuet: false,
  allowStitch: false,
  maxVideoSeconds: 60,
};

test.each([
  ["public", {}, ["unlisted", "private"]],
  ["unlisted", { unlistedAs: "followers" }, undefined],
  ["unlisted", { unlistedAs: "friends" }, undefined],
  ["private", {}, undefined],
])(
  "the privacy %s with the settings %j on a private TikTok account is judged by what TikTok last offered the account",
  (privacy, settings, fits) => {
    const known = check("tiktok", { privacy, settings, available: PRIVATE_TIKTOK });
    const refused = [{ code: "privacy_unsupported", field: "privacy", fits }];
    expect(known).toEqual(fits === undefined ? [] : refused);
    expect(check("tiktok", { privacy, settings })).toEqual([]);
  },
);

test("a post with the privacy unlisted is refused if TikTok last did not offer the account what unlistedAs says", () => {
  const available = { ...PRIVATE_TIKTOK, audiences: ["public", "only_me"] };
  const settings = { unlistedAs: "friends" };
  expect(check("tiktok", { privacy: "unlisted", settings, available })).toEqual([
    { code: "privacy_unsupported", field: "privacy", fits: ["public", "private"] },
  ]);
});

test("a video for TikTok is at most as long as TikTok last offered the account, counted in whole seconds", () => {
  const lasting = (durationMs: number, available?: Record<string, unknown>) =>
    check("tiktok", { media: [video({ durationMs })], available });
  const fits = "0–60 s";
  expect(lasting(61_000, PRIVATE_TIKTOK)).toEqual([
    media("media_duration", { index: 0, limit: 60, actual: 61, fits }),
  ]);
  expect(lasting(60_900, PRIVATE_TIKTOK)).toEqual([]);
  expect(lasting(61_000)).toEqual([]);
  expect(lasting(601_000, { ...PRIVATE_TIKTOK, maxVideoSeconds: 3600 })).toMatchObject([
    { code: "media_duration", limit: 600 },
  ]);
});

test.each([{}, { audiences: [], maxVideoSeconds: null }, { audiences: "public" }])(
  "a post for a TikTok account of which only %j is known is checked against TikTok's rules and no limit of the account",
  (available) => {
    for (const privacy of ["public", "unlisted", "private"])
      expect(check("tiktok", { privacy, available })).toEqual([]);
  },
);

test("a video that Facebook publishes as a reel has 24 to 60 frames per second, and other videos for Facebook may have any number", () => {
  const encoded = (fps: number) => ({
    video: { codec: "h264", fps, fastStart: true, fragmented: false },
  });
  const reel = (fps: number, change: Partial<TargetMedia> = {}) =>
    check("facebook", { media: [video({ ...encoded(fps), ...change })] });
  const fits = "24–60 fps";
  expect(reel(12)).toEqual([media("media_frame_rate", { index: 0, limit: 24, actual: 12, fits })]);
  expect(reel(120)).toEqual([
    media("media_frame_rate", { index: 0, limit: 60, actual: 120, fits }),
  ]);
  for (const taken of [23.976, 30, 60.2]) expect(reel(taken)).toEqual([]);
  expect(reel(12, { width: 1280, height: 720 })).toEqual([]);
  expect(reel(12, { durationMs: null })).toEqual([]);
});
