import { expect, test } from "vitest";
import { createMediaLinks } from "#src/media/links.ts";

const OLD = "o".repeat(32);
const NEW = "n".repeat(32);

const linksWith = (...mediaKeys: readonly [string, ...string[]]) =>
  createMediaLinks({ publicUrl: "http://gateway", mediaKeys, mediaUrlMs: 60_000 });

const CLAIMS = { workspaceId: "w", mediaId: "m", rendition: "original" };

test("the keys that sign media URLs can be rotated in three steps, and processes that are one step apart accept each other's tokens", () => {
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

test("the token of a media URL contains the id of a rendition", () => {
  const links = linksWith(NEW);
  const token = links.urlOf("w", "m", "r").replace("http://gateway/media/", "");

  expect(links.read(token)).toEqual({ workspaceId: "w", mediaId: "m", rendition: "r" });
});
