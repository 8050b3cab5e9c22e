import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@postrider/shared/telemetry/logger";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { createFileInspector } from "#src/inspection/file-inspector.ts";

const FILES = new URL("heif/single/", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "postrider-heif-single-"));
const limits = { maxImageBytes: 20_000_000, maxVideoBytes: 1_000_000_000 };
const inspector = createFileInspector({
  limits,
  logger: createLogger({ service: "media", level: "silent" }),
});

afterAll(async () => {
  await inspector[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function readPixels(picture: Buffer) {
  const { data, info } = await sharp(picture).raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

const names = readdirSync(FILES)
  .filter((name) => name.endsWith(".heic"))
  .map((name) => name.replace(".heic", ""));

test.each(names)(
  "platforms receive the HEIC %s, which has a single picture, as libheif's own decoder shows it",
  async (name) => {
    const heic = readFileSync(new URL(`${name}.heic`, FILES));
    const expected = await readPixels(readFileSync(new URL(`${name}.png`, FILES)));
    const path = join(folder, name);
    await writeFile(path, heic);

    const result = await inspector.inspect(path, {
      contentType: "image/heic",
      bytes: heic.length,
    });

    if (result.kind !== "accepted" || result.media.delivery.kind !== "rewritten")
      throw new Error(JSON.stringify(result));
    const { width, height, delivery } = result.media;
    const seen = await readPixels(await readFile(delivery.path));
    expect([width, height]).toEqual([expected.width, expected.height]);
    expect([seen.width, seen.height]).toEqual([expected.width, expected.height]);
    const differences = expected.data.map((value, at) => Math.abs(value - (seen.data[at] ?? 0)));
    const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
    // The file for platforms is a JPEG, so its pixels differ a little. A picture that is turned or
    // cropped in another way differs by more than ten.
    expect(mean).toBeLessThan(4);
  },
);
