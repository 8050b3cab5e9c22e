import { expect, test } from "vitest";
import { createMediaLinks } from "#src/routes/media/links.ts";

const OLD = "o".repeat(32);
const NEW = "n".repeat(32);

const linksWith = (...mediaKeys: readonly [string, ...string[]]) =>
  createMediaLinks({ publicUrl: "http://gateway", mediaKeys, mediaUrlMs: 60_000 });

const CLAIMS = { workspaceId: "w", mediaId: "m", rendition: "original" };

test("the key of media addresses is changed in three steps, and those one step apart read each other's", () => {
  const steps = [linksWith(OLD), linksWith(OLD, NEW), linksWith(NEW, OLD), linksWith(NEW)];
  const reads = steps.map((maker) => {
    const token = maker.urlOf("w", "m").replace("http://gateway/media/", "");
    return steps.map((reader) => reader.read(token));
  });
  const no = undefined;
  expect(reads).toEqual([
    [CLAIMS, CLAIMS, CLAIMS, no],
    [CLAIMS, CLAIMS, CLAIMS, no],
    [no, CLAIMS, CLAIMS, CLAIMS],
    [no, CLAIMS, CLAIMS, CLAIMS],
  ]);
});
