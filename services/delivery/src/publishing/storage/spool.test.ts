import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MediaPart, PublicationMedia } from "@postrider/platforms/publishing/publication";
import { eventually } from "@postrider/shared/testing/poll";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Spool } from "./spool.ts";

const signal = new AbortController().signal;
const OWNER = { workspaceId: "a", signal };
const CONTENT = Buffer.from("0123456789".repeat(30_000));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-spool-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A media file of which the media service answers only the first `reads` reads. */
function medium(id: string, reads = 1): PublicationMedia {
  let left = reads;
  return {
    id,
    kind: "video",
    contentType: "video/mp4",
    bytes: CONTENT.length,
    sha256: "",
    width: null,
    height: null,
    durationMs: null,
    altText: null,
    coverMs: null,
    fileName: "a.mp4",
    url: "",
    read: ({ start, length = CONTENT.length - start }) => {
      if (left === 0) return Promise.reject(new Error("the media service does not answer"));
      left -= 1;
      return Promise.resolve(pieces(CONTENT.subarray(start, start + length)));
    },
  };
}

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7777) yield bytes.subarray(at, at + 7777);
}

function whole(media: PublicationMedia): MediaPart {
  return { media, start: 0, length: media.bytes };
}

async function readText(
  media: PublicationMedia | undefined,
  range: { start: number; length?: number } = { start: 0 },
): Promise<string> {
  const chunks: Uint8Array[] = [];
  if (media === undefined) throw new Error("no such media");
  for await (const chunk of await media.read(range, signal)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test("media in the disk spool can be read repeatedly, and no file remains on disk afterwards", async () => {
  const all = [medium("a"), medium("b")];
  const spool = new Spool({ folder, maxBytes: 10_000_000 });
  await using spooled = await spool.fetch(all, all.map(whole), OWNER);
  const [a, b] = spooled.media;
  expect(await Promise.all([readText(a), readText(b), readText(b)])).toEqual(
    Array.from({ length: 3 }, () => CONTENT.toString()),
  );
  expect(await readText(b, { start: 99_995, length: 12 })).toBe("567890123456");
  expect(readdirSync(folder)).toEqual([]);
});

test("a part of a media file that is not in the disk spool is read from the media service", async () => {
  const media = medium("a", 2);
  const spool = new Spool({ folder, maxBytes: 10_000_000 });
  const part = { media, start: 200_000, length: 100_000 };
  await using spooled = await spool.fetch([media], [part], OWNER);
  const [here] = spooled.media;
  expect(await readText(here, { start: 299_990 })).toBe("0123456789");
  expect(await readText(here, { start: 0, length: 3 })).toBe("012");
  await expect(readText(here, { start: 0, length: 3 })).rejects.toThrow("does not answer");
});

test("media downloads wait in order for free space in the disk spool, and stop waiting when they are aborted", async () => {
  const spool = new Spool({ folder, maxBytes: CONTENT.length });
  const fetch = (abort?: AbortSignal) => {
    const media = medium("a");
    return spool.fetch([media], [whole(media)], { ...OWNER, signal: abort ?? signal });
  };
  const order: string[] = [];
  const first = await fetch();
  const interrupted = new AbortController();
  const second = fetch(interrupted.signal).catch(() => order.push("second gave up"));
  const third = fetch().then((spooled) => {
    order.push("third");
    return spooled;
  });
  interrupted.abort();
  await second;
  await first[Symbol.asyncDispose]();
  await (await third)[Symbol.asyncDispose]();
  expect(order).toEqual(["second gave up", "third"]);
});

test("a failed media download leaves no file in the disk spool and frees the space that it reserved", async () => {
  const spool = new Spool({ folder, maxBytes: CONTENT.length });
  const short = { ...medium("short"), read: () => Promise.resolve(pieces(CONTENT.subarray(1))) };
  for (const broken of [medium("broken", 0), short])
    await expect(spool.fetch([broken], [whole(broken)], OWNER)).rejects.toThrow(
      /does not answer|differs from/,
    );
  expect(readdirSync(folder)).toEqual([]);
  const media = medium("a");
  let isHere = false;
  const fetched = spool.fetch([media], [whole(media)], OWNER).then((spooled) => {
    isHere = true;
    return spooled;
  });
  await eventually(() => isHere);
  await (await fetched)[Symbol.asyncDispose]();
});

test("a media file that is larger than the whole disk spool is downloaded once the spool holds no other file", async () => {
  const spool = new Spool({ folder, maxBytes: 1000 });
  const media = medium("a");
  await using spooled = await spool.fetch([media], [whole(media)], OWNER);
  expect(await readText(spooled.media[0])).toBe(CONTENT.toString());
});

test("a workspace whose media fill its part of the disk spool does not keep the media of other workspaces waiting", async () => {
  const spool = new Spool({ folder, maxBytes: 4 * CONTENT.length });
  const fetch = (workspaceId: string) => {
    const media = medium("a");
    return spool.fetch([media], [whole(media)], { workspaceId, signal });
  };
  const order: string[] = [];
  const [first, second] = [await fetch("a"), await fetch("a")];
  const third = fetch("a").then((spooled) => {
    order.push("a");
    return spooled;
  });
  const other = await fetch("b");
  order.push("b");
  for (const spooled of [first, second, other]) await spooled[Symbol.asyncDispose]();
  await (await third)[Symbol.asyncDispose]();
  expect(order).toEqual(["b", "a"]);
});
