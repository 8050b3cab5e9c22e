import type { PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { isSizeTaken } from "@postrider/platforms/renditions/image-plan";
import { isAnimation } from "@postrider/platforms/renditions/plan-image";
import { eventually } from "@postrider/shared/testing/poll";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { similarity } from "../services/media/test/sample-pictures.ts";
import { portrait, TOOL_PICTURES } from "./support/observers/tool-pictures.ts";
import { upload } from "./support/requests/media.ts";
import { create, detailsOf, whenTargets } from "./support/requests/posts.ts";
import type { VisibleEntry } from "./support/requests/simulator.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { watchMemory } from "./support/system/memory.ts";
import { useSharedSystem } from "./support/system/system.ts";

const MB = 1_000_000;
/** Longer side in pixels to which larger pictures are reduced before they are compared. */
const COMPARED = 800;
const LEAST_SIMILARITY = 0.95;
/** Maximum time in ms until a post is published while the machine processes other pictures. */
const PUBLISHED_MS = 60_000;
const TIKTOK = { tiktok: { privacy: "public" } };

/**
 * Two accounts of each platform; tests alternate between them, because TikTok accepts only 15 posts
 * of an account per day.
 */
const accounts: [ReadonlyMap<string, string>, ReadonlyMap<string, string>] = [new Map(), new Map()];
const system = await useSharedSystem();
const tenant = await openTenant(system);
const memory = watchMemory(system.local().services.media.map(({ pid }) => pid));
const platforms = Object.keys(PLATFORM_FACTS);
const ids = await Promise.all(platforms.map((platform) => tenant.connectAll(platform, 2)));
for (const half of [0, 1] as const)
  accounts[half] = new Map(platforms.map((platform, at) => [platform, ids[at]?.[half] ?? ""]));
afterAll(async () => {
  memory.stop();
});

async function publish(
  content: string,
  mediaId: string,
  accountIds: readonly string[],
  options = {},
): Promise<readonly VisibleEntry[]> {
  const body = { content, accountIds, mediaIds: [mediaId], options };
  const { id } = await create(tenant.api, body);
  await whenTargets(tenant.api, id, "published", PUBLISHED_MS);
  return await eventually(async () => {
    const entries = (await tenant.listVisible()).filter(({ text }) => text === content);
    expect(entries).toHaveLength(accountIds.length);
    return entries;
  });
}

/** Returns the violations of a post with this picture, per platform. */
async function violationsOf(
  mediaId: string,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const body = {
    content: "Pictures",
    accountIds,
    mediaIds: [mediaId],
    options: { ...TIKTOK, youtube: { title: "Pictures" } },
  };
  const answer = await tenant.api.call("POST", "/posts/validate", { body });
  return new Map(
    detailsOf(answer).map(({ platform, code, allowed }) => [
      String(platform),
      `${String(code)} ${String(allowed)}`,
    ]),
  );
}

/**
 * Checks that readers see the whole picture, upright, in a file that the rules of the platform
 * allow.
 */
async function checkSeen(entry: VisibleEntry, whole: Buffer): Promise<void> {
  const platform = entry.platform as PlatformId;
  const { bytes, contentType } = await system.simulator.readerFile(entry);
  const { image: rules } = PLATFORM_FACTS[platform].rules;
  const found = await sharp(bytes, { limitInputPixels: false }).metadata();
  const { width, pageHeight, height, pages = 1, format, orientation = 1 } = found;
  const facts = { contentType, bytes: bytes.length, width, height: pageHeight ?? height };
  expect([`image/${format}`, orientation], platform).toEqual([contentType, 1]);
  const isAnimated = isAnimation({ ...facts, frames: pages }, rules);
  const limits = isAnimated ? rules.animation : rules;
  expect(limits?.types, platform).toContain(contentType);
  expect(bytes.length, platform).toBeLessThanOrEqual(limits?.maxBytes ?? 0);
  expect(isAnimated || isSizeTaken(facts, rules), platform).toBe(true);
  // The published file must not be CMYK, because programs show CMYK colours differently.
  expect(found.space, platform).not.toBe("cmyk");

  const factor = Math.min(1, COMPARED / Math.max(facts.width, facts.height));
  const [side, other] = [Math.round(facts.width * factor), Math.round(facts.height * factor)];
  const inSize = async (file: Buffer) =>
    await sharp(file, { limitInputPixels: false })
      .resize(side, other, { fit: "fill" })
      .tiff({ compression: "none" })
      .toBuffer();
  const alike = await similarity(await inSize(bytes), await inSize(whole));
  expect(alike, `${platform}: similarity`).toBeGreaterThanOrEqual(LEAST_SIMILARITY);
}

/**
 * The picture as the library sharp decodes it: upright, in sRGB, reduced to the size in which
 * pictures are compared.
 */
async function shown(file: Buffer): Promise<Buffer> {
  return await sharp(file, { limitInputPixels: false })
    .autoOrient()
    .resize(COMPARED, COMPARED, { fit: "inside", withoutEnlargement: true })
    .toColourspace("srgb")
    .tiff({ compression: "none" })
    .toBuffer();
}

const named = TOOL_PICTURES.map((picture, index) => [picture.name, picture, index % 2] as const);
test.concurrent.for(named)(
  "readers of each platform see %s upright and like the original, or validation says why the platform refuses it",
  async ([name, { contentType, make, seen, refused = {} }, half]) => {
    const all = [...(accounts[half] ?? [])];
    const file = await make();
    const media = await upload(tenant.api, {
      fileName: "picture",
      contentType,
      bytes: new Uint8Array(file),
    });
    const violations = await violationsOf(
      media.id,
      all.map(([, id]) => id),
    );
    expect(new Set(violations.keys())).toEqual(new Set(["youtube", ...Object.keys(refused)]));
    for (const [platform, reason] of Object.entries(refused))
      expect(violations.get(platform)).toContain(reason);

    const taking = all.filter(([platform]) => !violations.has(platform));
    if (taking.length === 0) return;
    const entries = await publish(
      name,
      media.id,
      taking.map(([, id]) => id),
      violations.has("tiktok") ? {} : TIKTOK,
    );
    const whole = await shown(seen === undefined ? file : await seen());
    for (const entry of entries) await checkSeen(entry, whole);
  },
);

test.concurrent.each(["pad", "crop"] as const)(
  "a 3:4 picture of an Instagram account with the setting imageFit %s is published in an aspect ratio that Instagram accepts",
  async (imageFit) => {
    const account = await tenant.connect("instagram");
    await tenant.api.call("PATCH", `/accounts/${account}/settings`, { body: { imageFit } });
    const file = await portrait();
    const { id } = await upload(tenant.api, {
      fileName: "picture.jpg",
      contentType: "image/jpeg",
      bytes: new Uint8Array(file),
    });
    const [entry] = await publish(`3:4 with ${imageFit}`, id, [account]);
    if (entry === undefined) throw new Error("the post is not visible");
    // The expected picture has the ratio 4:5 instead of 3:4: `pad` adds white bars at the sides,
    // and otherwise the height is cropped.
    const wanted = { fit: imageFit === "pad" ? "contain" : "cover", background: "white" } as const;
    const [width, height] = imageFit === "pad" ? [1638, 2048] : [1536, 1920];
    const whole = await sharp(file).resize(width, height, wanted).png().toBuffer();
    await checkSeen(entry, whole);
  },
);

test("the media service and each of its inspection processes stay below 400 MB while they inspect and convert pictures of phones and programs", () => {
  const peaks = memory.stop();
  if (process.env.POSTRIDER_E2E_FIGURES !== undefined) console.log(peaks);
  expect(Math.max(...peaks.services)).toBeLessThan(400 * MB);
  expect(peaks.inspection).toBeGreaterThan(0);
  expect(peaks.inspection).toBeLessThan(400 * MB);
});
