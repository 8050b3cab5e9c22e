import { blobRefsOf } from "@postrider/simulator/bluesky/post-record";
import { photoOf } from "@postrider/simulator/facebook/feed";
import type { GraphCall } from "@postrider/simulator/graph/endpoint";
import { GraphParameters } from "@postrider/simulator/graph/parameters";
import type { Fetched } from "@postrider/simulator/http/fetch-media";
import { fetchImage } from "@postrider/simulator/instagram/containers";
import { singleMedia } from "@postrider/simulator/telegram/input-media";
import { jpegBytes, pngBytes } from "@postrider/simulator/testing";
import { gifBytes, webpBytes } from "@postrider/simulator/testing-images";
import { checkFetchedMedia } from "@postrider/simulator/tiktok/pull";
import { receive } from "@postrider/simulator/world/received-media";
import { CATEGORIES, mediaFault } from "@postrider/simulator/x/media";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PLATFORM_FACTS } from "#src/registry.ts";
import type { ImageFacts, ImageFit } from "#src/renditions/image-plan.ts";
import { isAnimation, planImage } from "#src/renditions/plan-image.ts";

/** An image whose width, height and number of frames are known. */
interface Sent extends ImageFacts {
  readonly width: number;
  readonly height: number;
}

const URL = "https://media.example.com/image";

function fetched(file: Buffer, contentType: string): ReadonlyMap<string, Fetched> {
  return new Map([[URL, { kind: "file", contentType, bytes: file }]]);
}

/**
 * For each platform that shows images, a function that throws when the simulated platform refuses
 * the image.
 */
const TAKES = {
  instagram: (file: Buffer, { contentType }: Sent) => {
    const parameters = new GraphParameters(new Map([["image_url", URL]]));
    fetchImage({ parameters, fetched: fetched(file, contentType) } as GraphCall);
  },
  x: (file: Buffer) => {
    const received = receive([file]);
    const category = received?.kind === "gif" ? CATEGORIES.tweet_gif : CATEGORIES.tweet_image;
    expect(category.types).toContain(received?.contentType);
    expect(received?.bytes).toBeLessThanOrEqual(category.maxBytes);
    expect(received && mediaFault(received)).toBeUndefined();
  },
  facebook: (file: Buffer) => {
    photoOf({ parameters: new GraphParameters(new Map([["source", file]])) } as GraphCall);
  },
  tiktok: (file: Buffer, { contentType }: Sent) => {
    const { failReason } = checkFetchedMedia("photo", [URL], fetched(file, contentType));
    expect(failReason).toBeUndefined();
  },
  telegram: (file: Buffer, sent: Sent) => {
    const kind = isAnimation(sent, PLATFORM_FACTS.telegram.rules.image) ? "animation" : "photo";
    singleMedia(new Map([[kind, file]]), kind);
  },
  bluesky: (file: Buffer, { contentType, width, height }: Sent) => {
    const ref = { $link: "bafkreia" };
    const image = { $type: "blob", ref, mimeType: contentType, size: file.length };
    const images = [{ image, alt: "", aspectRatio: { width, height } }];
    blobRefsOf({ embed: { $type: "app.bsky.embed.images", images } });
  },
};

/** The beginning of a file without pixels, which says the type, the size and the frames. */
function header({ contentType, width, height, frames }: Sent): Buffer {
  switch (contentType) {
    case "image/jpeg":
      return jpegBytes(0, width, height);
    case "image/webp":
      return webpBytes({ width, height, frames });
    case "image/gif":
      return gifBytes({ width, height, frames });
    default: {
      const png = pngBytes();
      png.writeUInt32BE(width, 16);
      png.writeUInt32BE(height, 20);
      return png;
    }
  }
}

function fileOf(sent: Sent): Buffer {
  const file = Buffer.alloc(sent.bytes);
  header(sent).copy(file);
  return file;
}

function isTaken(platform: keyof typeof TAKES, sent: Sent): boolean {
  const take: (file: Buffer, sent: Sent) => void = TAKES[platform];
  try {
    take(fileOf(sent), sent);
    return true;
  } catch {
    return false;
  }
}

const PNG = { contentType: "image/png", bytes: 900_000, width: 1080, height: 1080, frames: 1 };
const PHOTO = { contentType: "image/jpeg", bytes: 5_000_000, width: 3024, height: 4032, frames: 1 };
const SQUARE = { ...PHOTO, width: 3024, height: 3024 };

test.each<[keyof typeof TAKES, string, Sent, ImageFit]>([
  ["instagram", "a PNG", PNG, "refuse"],
  ["tiktok", "a PNG", PNG, "refuse"],
  ["instagram", "a picture with the ratio 3:4", PHOTO, "pad"],
  ["instagram", "a picture with the ratio 3:4", PHOTO, "crop"],
  ["bluesky", "a picture of more than 2 MB", SQUARE, "refuse"],
  ["facebook", "a picture of more than 4 MB", SQUARE, "refuse"],
])(
  "the simulated platform %s refuses %s in the form in which a person uploads it, and takes the rendition that Postrider plans for it",
  (platform, _name, image, fit) => {
    expect(isTaken(platform, image)).toBe(false);
    const plan = planImage(image, PLATFORM_FACTS[platform].rules.image, fit);
    if (plan.kind !== "rendition") throw new Error(`the picture is planned as ${plan.kind}`);
    const sent = { ...plan.rendition, bytes: plan.rendition.maxBytes, frames: 1 };
    expect(isTaken(platform, sent)).toBe(true);
  },
);

const images = fc.record<Sent>({
  contentType: fc.constantFrom("image/jpeg", "image/png", "image/gif", "image/webp", "image/heic"),
  // Most files are small, because the simulator computes the hash of each file.
  bytes: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 10_000, max: 200_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 10_000, max: 12_000_000 }) },
  ),
  width: fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 16_000 })),
  height: fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 16_000 })),
  frames: fc.constantFrom(1, 1, 1, 2, 350, 351),
});
const fits = fc.constantFrom<ImageFit>("refuse", "pad", "crop");
/** Every platform takes the first as it is, and needs a rendition of the second. */
const TAKEN: [Sent, ImageFit][] = [
  [{ contentType: "image/jpeg", bytes: 100_000, width: 1080, height: 1080, frames: 1 }, "refuse"],
  [{ contentType: "image/heic", bytes: 100_000, width: 1080, height: 1080, frames: 1 }, "pad"],
];

test.each(Object.entries(TAKES))(
  "the simulated platform %s takes every image that Postrider plans to send to it, unchanged or as a rendition",
  (platform, take) => {
    const rules = PLATFORM_FACTS[platform as keyof typeof TAKES].rules.image;
    const taken = { original: 0, rendition: 0 };
    fc.assert(
      fc.property(images, fits, (image, fit) => {
        const plan = planImage(image, rules, fit);
        if (plan.kind === "refused") return;
        const made = plan.kind === "original" ? image : { ...plan.rendition, frames: 1 };
        // A rendition has as many bytes as the original image, but at most the maximum of the plan.
        const maxBytes = "maxBytes" in made ? made.maxBytes : Infinity;
        const sent = { ...made, bytes: Math.min(image.bytes, maxBytes) };
        take(fileOf(sent), sent);
        taken[plan.kind] += 1;
      }),
      { numRuns: 200, examples: TAKEN },
    );
    expect(taken.original).toBeGreaterThan(0);
    expect(taken.rendition).toBeGreaterThan(0);
  },
);
