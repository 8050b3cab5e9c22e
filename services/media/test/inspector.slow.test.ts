import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { samplePng } from "@postrider/local/demo/sample-media";
import { ascii, box, sampleMp4 } from "@postrider/local/demo/sample-mp4";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { listen } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";
import sharp from "sharp";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { InspectionResult } from "#src/domain/inspected-media.ts";
import { createFileInspector } from "#src/inspection/file-inspector.ts";
import { startInspector } from "#src/inspection/server/start-inspector.ts";

const folder = mkdtempSync(join(tmpdir(), "postrider-inspector-"));
const path = join(folder, "file");
const logger = createLogger({ service: "media", level: "silent" });
const limits = { maxImageBytes: 20_000_000, maxVideoBytes: 1_000_000_000 };
const inspector = await startInspector({ host: "127.0.0.1", port: 0 });

beforeEach(async () => {
  for (const name of await readdir(folder)) await rm(join(folder, name));
});

afterAll(async () => {
  await inspector[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/**
 * Inspects a file as the media service does: by the inspector at `inspectorUrl`, or by child
 * processes if `inspectorUrl` is undefined.
 */
async function inspect(bytes: Uint8Array, inspectorUrl?: string): Promise<InspectionResult> {
  await rm(`${path}.delivery`, { force: true });
  await writeFile(path, bytes);
  await using files = createFileInspector({ limits, logger, inspectorUrl });
  return await files.inspect(path, undefined);
}

/** Starts an inspector that a hostile file has taken over. */
async function startHostileInspector(listener: RequestListener) {
  return await listen(createServer(listener));
}

const rotated = async () =>
  await sharp(samplePng({ width: 96, height: 64 }))
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
const named = () =>
  sampleMp4({ inMovie: [box("udta", box("XMP_", Buffer.alloc(1_000_000, ascii("place"))))] });

test.each([
  ["an image that stays as it is", () => samplePng()],
  ["an image that is made upright", rotated],
  ["a video that is cleaned", named],
  ["a file that is rejected", () => Buffer.from("text")],
])(
  "an inspection by the inspector and one by a child process of the media service have the same result for %s",
  async (_, make) => {
    const bytes = await make();
    const expected = await inspect(bytes);
    const delivery = await readFile(`${path}.delivery`).catch(() => undefined);

    expect(await inspect(bytes, inspector.url)).toEqual(expected);
    expect(await readFile(`${path}.delivery`).catch(() => undefined)).toEqual(delivery);
  },
);

test("the inspection of a media file returns unavailable when the inspector cannot be reached", async () => {
  const { url } = await (async () => {
    await using stopped = await startHostileInspector(() => undefined);
    return stopped;
  })();

  expect(await inspect(samplePng(), url)).toEqual({ kind: "unavailable" });
});

const PNG = samplePng();
const end = (bytes: number) =>
  `${JSON.stringify({
    kind: "done",
    result: {
      kind: "accepted",
      media: {
        kind: "image",
        contentType: "image/png",
        bytes: PNG.length,
        sha256: "a".repeat(64),
        width: 1,
        height: 1,
        durationMs: null,
        frames: 1,
        delivery: {
          kind: "rewritten",
          path: "/proc/self/environ",
          bytes,
          sha256: "b".repeat(64),
          contentType: "image/png",
        },
      },
    },
  })}\n`;

test("the media service ignores a path in the answer of the inspector and gives platforms the bytes that the inspector sent", async () => {
  await using hostile = await startHostileInspector((request, response) => {
    request.resume().once("end", () => response.end(`${end(5)}bytes`));
  });

  expect(await inspect(PNG, hostile.url)).toMatchObject({
    media: { delivery: { kind: "rewritten", path: `${path}.delivery` } },
  });
  expect(await readFile(`${path}.delivery`, "utf8")).toBe("bytes");
});

test.each([
  ["is not JSON", "what?\n"],
  ["has no end", JSON.stringify({ kind: "gone" })],
  ["does not describe an inspection", '{"kind":"done"}\n'],
  ["is a line of 4 MB", `${"x".repeat(4_000_000)}\n`],
  ["has fewer bytes than it announces", `${end(6)}bytes`],
  ["has more bytes than it announces", `${end(4)}bytes`],
])(
  "the inspection of a media file returns unavailable and leaves no partly written file for platforms when the answer of the inspector %s",
  async (_, answer) => {
    await using hostile = await startHostileInspector((request, response) => {
      request.resume().once("end", () => response.end(answer));
    });

    expect(await inspect(PNG, hostile.url)).toEqual({ kind: "unavailable" });
    expect(await readdir(folder)).toEqual(["file"]);
  },
);

test("the inspector answers 200 to its health probes and 404 to any other GET request", async () => {
  const status = async (path: string) => (await fetch(`${inspector.url}${path}`)).status;

  expect(await Promise.all(["/livez", "/readyz", "/inspections", "/x"].map(status))).toEqual([
    200, 200, 404, 404,
  ]);
});

test("the inspector reports a process that an inspection has left behind, and does not report the processes that it started itself", async () => {
  const found: number[] = [];
  const onStray = (pids: readonly number[]) => void found.push(...pids);
  await using watching = await startInspector({ host: "127.0.0.1", port: 0, onStray });
  // The first process of a container inherits a process that an inspection leaves behind. Here
  // `stray` stands for it: a child of this process that the inspector did not start.
  const stray = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"]);
  try {
    await inspect(PNG, watching.url);
    await eventually(() => expect(found).toContain(stray.pid));
  } finally {
    stray.kill("SIGKILL");
    await once(stray, "exit");
  }
  found.length = 0;
  await inspect(PNG, watching.url);
  expect(await inspect(PNG, watching.url)).toMatchObject({ kind: "accepted" });
  expect(found).toEqual([]);
});
