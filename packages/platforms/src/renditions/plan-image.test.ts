import fc from "fast-check";
import { expect, test } from "vitest";
import { PLATFORM_IDS, type PlatformId } from "#src/platform-id.ts";
import { PLATFORM_FACTS } from "#src/registry.ts";
import type { ImageRules } from "#src/rules.ts";
import { type ImageFacts, type ImageFit, isSizeTaken, type Rendition } from "./image-plan.ts";
import { planImage } from "./plan-image.ts";

const rulesOf = (platform: PlatformId): ImageRules => PLATFORM_FACTS[platform].rules.image;

const jpeg = (change: Partial<ImageFacts> = {}): ImageFacts => ({
  contentType: "image/jpeg",
  bytes: 3_000_000,
  width: 4032,
  height: 3024,
  frames: 1,
  ...change,
});

const plan = (platform: PlatformId, change: Partial<ImageFacts> = {}, fit: ImageFit = "refuse") =>
  planImage(jpeg(change), rulesOf(platform), fit);

const rendition = (
  contentType: Rendition["contentType"],
  [width, height]: readonly [number, number],
  maxBytes: number,
  fit: Rendition["fit"] = "scale",
) => ({ kind: "rendition", rendition: { contentType, width, height, fit, maxBytes } });

const ORIGINAL = { kind: "original" };

test("a 12 megapixel picture from a phone is sent unchanged if the platform takes it, and is otherwise scaled to what the platform takes", () => {
  expect(plan("instagram")).toEqual(ORIGINAL);
  expect(plan("x")).toEqual(ORIGINAL);
  expect(plan("facebook")).toEqual(ORIGINAL);
  expect(plan("telegram")).toEqual(ORIGINAL);
  expect(plan("tiktok")).toEqual(rendition("image/jpeg", [1440, 1080], 6_220_800));
  expect(plan("bluesky")).toEqual(rendition("image/jpeg", [3000, 2250], 2_000_000));
});

test.each<[string, Partial<ImageFacts>]>([
  ["PNG", { contentType: "image/png" }],
  ["WebP", { contentType: "image/webp" }],
  ["HEIC", { contentType: "image/heic" }],
  ["TIFF", { contentType: "image/tiff" }],
  ["still GIF", { contentType: "image/gif" }],
])("a %s picture becomes a JPEG for Instagram, as wide as Instagram shows it", (_type, change) => {
  expect(plan("instagram", change)).toEqual(rendition("image/jpeg", [1440, 1080], 6_220_800));
});

test("Instagram and TikTok share the rendition of a landscape PNG", () => {
  const png = { contentType: "image/png" };
  expect(plan("tiktok", png)).toEqual(plan("instagram", png));
});

test("a PNG stays a PNG if the platform takes PNG files of its size, and becomes a JPEG otherwise", () => {
  const png = { contentType: "image/png", bytes: 1_900_000, width: 9000, height: 3000 };
  expect(plan("bluesky", { ...png, width: 2000 })).toEqual(ORIGINAL);
  expect(plan("telegram", png)).toEqual(rendition("image/png", [2560, 853], 8_734_720));
  expect(plan("bluesky", { ...png, bytes: 2_000_001 })).toEqual(
    rendition("image/jpeg", [3000, 1000], 2_000_000),
  );
});

test("a GIF with one frame is treated like any other still picture, and a GIF with several frames is sent only to platforms that animate it", () => {
  const gif = { contentType: "image/gif", bytes: 500_000, width: 400, height: 400 };
  expect(plan("x", gif)).toEqual(rendition("image/png", [400, 400], 640_000));
  for (const frames of [0, 2]) {
    expect(plan("x", { ...gif, frames })).toEqual(ORIGINAL);
    expect(plan("telegram", { ...gif, frames })).toEqual(ORIGINAL);
    expect(plan("instagram", { ...gif, frames })).toMatchObject({ kind: "refused" });
    expect(plan("bluesky", { ...gif, frames })).toMatchObject({ kind: "refused" });
  }
  expect(plan("facebook", { ...gif, frames: 2 })).toMatchObject({ kind: "refused" });
});

test("an animated WebP is refused on every platform, because none shows more than its first frame", () => {
  for (const platform of PLATFORM_IDS)
    expect(plan(platform, { contentType: "image/webp", frames: 2 })).toMatchObject({
      kind: "refused",
      faults: [{ code: "media_type_unsupported" }],
    });
});

test("a TIFF with several pages is sent unchanged if the platform takes TIFF files, and is otherwise refused", () => {
  const pages = { contentType: "image/tiff", frames: 2 };
  expect(plan("facebook", pages)).toEqual(ORIGINAL);
  expect(plan("instagram", pages)).toMatchObject({
    faults: [{ code: "media_type_unsupported", fits: "image/jpeg (1 frame)" }],
  });
});

test("the refusal of an animation names the limit that the animation exceeds and the values that would fit", () => {
  const gif = { contentType: "image/gif", bytes: 15_000_001, width: 1281, height: 1081 };
  expect(plan("x", { ...gif, frames: 351 })).toEqual({
    kind: "refused",
    faults: [
      { code: "media_too_large", limit: 15_000_000, actual: 15_000_001 },
      { code: "media_dimensions", limit: 1280, actual: 1281, fits: "width ≤ 1280 px" },
      { code: "media_dimensions", limit: 1080, actual: 1081, fits: "height ≤ 1080 px" },
      { code: "media_dimensions", limit: 350, actual: 351, fits: "frames ≤ 350" },
      {
        code: "media_dimensions",
        limit: 300_000_000,
        actual: 1281 * 1081 * 351,
        fits: "width × height × frames ≤ 300000000",
      },
    ],
  });
});

test("a GIF of 300 frames and 1280 x 1000 pixels is refused for X before its upload, because all frames together have more than 300 million pixels", () => {
  const gif = { contentType: "image/gif", bytes: 9_000_000, width: 1280, height: 1000 };
  expect(plan("x", { ...gif, frames: 234 })).toEqual(ORIGINAL);
  expect(plan("x", { ...gif, frames: 300 })).toMatchObject({
    kind: "refused",
    faults: [{ code: "media_dimensions", limit: 300_000_000, actual: 384_000_000 }],
  });
});

test.each(["image/png", "image/webp", "image/avif"])(
  "an animated %s is refused on every platform instead of being sent as its first frame",
  (contentType) => {
    for (const platform of ["x", "bluesky", "facebook", "instagram", "telegram", "tiktok"] as const)
      expect(plan(platform, { contentType, frames: 12 })).toMatchObject({
        kind: "refused",
        faults: [{ code: "media_type_unsupported" }],
      });
  },
);

test.each(["bluesky", "facebook"] as const)(
  "the refusal of an animated GIF on %s says that a video can be sent instead",
  (platform) => {
    expect(plan(platform, { contentType: "image/gif", frames: 12 })).toMatchObject({
      faults: [{ fits: expect.stringContaining("(1 frame); video/mp4 (animation)") as string }],
    });
  },
);

test("a picture outside Instagram's aspect ratios is refused, padded or cropped as the account wants it", () => {
  const tall = { width: 3000, height: 4000 };
  expect(plan("instagram", tall)).toEqual({
    kind: "refused",
    faults: [
      {
        code: "media_dimensions",
        limit: 0.8,
        actual: 0.75,
        fits: 'width / height 0.8–1.91; imageFit "pad" | "crop": PATCH /accounts/{accountId}/settings',
      },
    ],
  });
  expect(plan("instagram", tall, "pad")).toEqual(
    rendition("image/jpeg", [1440, 1800], 8_000_000, "pad"),
  );
  expect(plan("instagram", tall, "crop")).toEqual(
    rendition("image/jpeg", [1440, 1800], 8_000_000, "crop"),
  );
  const panorama = { width: 11_000, height: 3600 };
  expect(plan("instagram", panorama, "pad")).toEqual(
    rendition("image/jpeg", [1440, 754], 4_343_040, "pad"),
  );
});

test("a picture whose aspect ratio is outside Instagram's range by less than one percent is scaled to the nearest ratio of the range", () => {
  expect(plan("instagram", { width: 1200, height: 628 })).toEqual(
    rendition("image/jpeg", [1199, 628], 3_011_888),
  );
  expect(plan("instagram", { width: 1080, height: 1351 })).toEqual(
    rendition("image/jpeg", [1080, 1350], 5_832_000),
  );
});

test("a picture below Instagram's minimum width is enlarged exactly to it", () => {
  expect(plan("instagram", { width: 200, height: 150 })).toEqual(
    rendition("image/jpeg", [320, 240], 307_200),
  );
});

test("a picture of unknown size is sent unchanged if the platform takes its type and number of bytes, and is otherwise refused", () => {
  const unknown = { width: null, height: null };
  expect(plan("instagram", unknown)).toEqual(ORIGINAL);
  expect(plan("instagram", { ...unknown, contentType: "image/png" })).toMatchObject({
    faults: [{ code: "media_type_unsupported" }],
  });
  expect(plan("bluesky", unknown)).toMatchObject({ faults: [{ code: "media_too_large" }] });
});

const images = fc.record<ImageFacts>({
  contentType: fc.constantFrom(
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/webp",
    "image/bmp",
    "image/tiff",
    "image/heic",
  ),
  bytes: fc.integer({ min: 100, max: 40_000_000 }),
  width: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 30_000 })),
  height: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 30_000 })),
  frames: fc.constantFrom(1, 1, 1, 2, 400),
});
const platforms = fc.constantFrom(...PLATFORM_IDS);
const fits = fc.constantFrom<ImageFit>("refuse", "pad", "crop");

test("a planned rendition always complies with its platform's rules, and a second plan for the result changes nothing", () => {
  fc.assert(
    fc.property(platforms, images, fits, (platform, image, fit) => {
      const planned = planImage(image, rulesOf(platform), fit);
      fc.pre(planned.kind === "rendition");
      const { contentType, width, height, maxBytes } = planned.rendition;
      expect(rulesOf(platform).types).toContain(contentType);
      expect(maxBytes).toBeLessThanOrEqual(rulesOf(platform).maxBytes);
      expect(isSizeTaken({ width, height }, rulesOf(platform))).toBe(true);
      const result = { contentType, bytes: maxBytes, width, height, frames: 1 };
      expect(planImage(result, rulesOf(platform), "refuse")).toEqual(ORIGINAL);
    }),
    { numRuns: 2000 },
  );
});

test("an image is enlarged only to reach the minimum width of the platform, and not beyond this width", () => {
  fc.assert(
    fc.property(platforms, images, (platform, image) => {
      const planned = planImage(image, rulesOf(platform), "refuse");
      fc.pre(planned.kind === "rendition");
      const { width, height } = planned.rendition;
      const { minWidth = 1 } = rulesOf(platform);
      const maxWidth = Math.max(image.width ?? 0, minWidth);
      const factor = maxWidth / (image.width ?? 1);
      expect(width).toBeLessThanOrEqual(maxWidth);
      // An aspect ratio just outside the platform's limits changes the height by up to one percent.
      expect(height).toBeLessThanOrEqual(Math.ceil((image.height ?? 0) * factor * 1.01));
    }),
    { numRuns: 2000 },
  );
});

test("a rendition that keeps the whole picture changes its proportions by at most two percent, or one pixel", () => {
  fc.assert(
    fc.property(platforms, images, (platform, image) => {
      const planned = planImage(image, rulesOf(platform), "refuse");
      fc.pre(planned.kind === "rendition");
      const { width, height } = planned.rendition;
      const expected = (width * (image.height ?? 1)) / (image.width ?? 1);
      expect(Math.abs(height - expected)).toBeLessThanOrEqual(
        Math.max(1 + (image.height ?? 1) / (image.width ?? 1), expected * 0.02),
      );
    }),
    { numRuns: 2000 },
  );
});
