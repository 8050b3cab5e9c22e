import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { sampleMp4, samplePng } from "@postrider/local/demo/sample-media";
import { listen, type Listening } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AUTOMATION_SETTINGS, testKilledAutomations } from "./support/faults/killed-automations.ts";
import type { Answer } from "./support/requests/api.ts";
import {
  openCutUpload,
  presign,
  type File,
  type Grant,
  type ReadyMedia,
} from "./support/requests/media.ts";
import { refusalOf } from "./support/requests/posts.ts";
import { fetchMedia, listUnnamed, whenTidy } from "./support/requests/stored-media.ts";
import { startSystem, type System } from "./support/system/system.ts";

const PNG: File = { fileName: "picture.png", contentType: "image/png", bytes: samplePng() };
const VIDEO: File = { fileName: "video.mp4", contentType: "video/mp4", bytes: sampleMp4() };
const CLIENTS = 3;
const KILLS = 3;

let system: System;
let fileServer: Listening;

beforeAll(async () => {
  fileServer = await listen(createServer((_request, response) => response.end(PNG.bytes)));
  const env = {
    OUTBOUND_ALLOW: fileServer.address,
    MEDIA_ORPHAN_SECONDS: "3",
    ...AUTOMATION_SETTINGS,
  };
  system = await startSystem("postgres", { replicas: 2, env });
});
afterAll(async () => {
  await fileServer[Symbol.asyncDispose]();
  await system[Symbol.asyncDispose]();
});

/**
 * Whether an answer is temporary: no process answered, or the process that claimed the idempotency
 * key has died and its claim has not expired yet.
 */
const isTransient = (answer: Answer<unknown>): boolean =>
  answer.status >= 500 || refusalOf(answer) === "409 idempotency_conflict";

/** Repeats a request, as a client with retries does, until a running process answers it. */
async function persist<T>(method: string, path: string, options = {}): Promise<Answer<T>> {
  return await eventually(async () => {
    const answer = await system.api.call<T>(method, path, options);
    return !isTransient(answer) && answer;
  });
}

/**
 * Uploads the bytes repeatedly until an answer says that they are stored; 409 means that an earlier
 * request stored them.
 */
async function put(grant: Grant, { bytes }: File): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(grant.uploadUrl, { method: "PUT", body: bytes });
    await answer.text();
    return answer.status === 204 || answer.status === 409;
  });
}

const complete = (grant: Grant) => persist<ReadyMedia>("POST", `/media/${grant.id}/complete`);
const remove = (id: string) => persist("DELETE", `/media/${id}`);

async function persistPresign(file: File): Promise<Grant> {
  return await eventually(() => presign(system.api, file));
}

async function uploaded(file: File): Promise<Grant> {
  const grant = await persistPresign(file);
  await put(grant, file);
  return grant;
}

async function ready(file: File): Promise<ReadyMedia> {
  const { status, body } = await complete(await uploaded(file));
  expect(status).toBe(200);
  return body;
}

/**
 * Imports a media file with an idempotency key, so that a repeated request does not create a second
 * one.
 */
async function importOne(): Promise<ReadyMedia> {
  const headers = { "idempotency-key": crypto.randomUUID() };
  const answer = await persist<ReadyMedia>("POST", "/media/from-url", {
    body: { url: `${fileServer.url}/picture.png` },
    headers,
  });
  expect(answer.status).toBe(201);
  return answer.body;
}

async function countReady(): Promise<number> {
  const [row] = await system.sql<{ count: number }[]>`
    select count(*)::int from media.media where status = 'ready'`;
  return row?.count ?? 0;
}

/**
 * Runs `act`, during which a media process kills itself at the failpoint, and waits until that
 * process is replaced.
 */
async function killAt(point: string, act: () => Promise<void>): Promise<void> {
  const before = system.pids("media");
  system.armFailpoint(point, "kill");
  await act();
  await eventually(() => expect(system.pids("media")).not.toEqual(before));
}

// services/media/test/crash.slow.test.ts and import-crash.test.ts kill the media service at every
// failpoint. The tests here kill it once for an upload, an import and a deletion, to show what a
// client of the gateway sees.
describe("kill -9 of the media service:", () => {
  test("after the media service is killed while it checks an upload, a repeated request to complete the upload makes the media file ready", async () => {
    const grant = await uploaded(PNG);
    await killAt("media.checked", async () => {
      const { status, body } = await complete(grant);
      expect([status, body.status]).toEqual([200, "ready"]);
      expect(await fetchMedia(body)).toBe("whole");
    });
  });

  test("a media import that is repeated after a kill between its commit and its answer creates one media file", async () => {
    const before = await countReady();
    await killAt("media.import-committed", async () => {
      expect(await fetchMedia(await importOne())).toBe("whole");
    });
    expect(await countReady()).toBe(before + 1);
  });

  test("after the media service is killed when it has committed a deletion, the files of deleted media are removed", async () => {
    const [media, grant] = [await ready(PNG), await uploaded(PNG)];
    await killAt("media.after-delete-commit", async () => {
      expect([202, 404]).toContain((await remove(media.id)).status);
      expect([204, 404]).toContain((await remove(grant.id)).status);
    });
    expect(await fetchMedia(media)).toBe(404);
    await whenTidy(system);
    for (const { id } of [media, grant]) expect(refusalOf(await remove(id))).toBe("404 not_found");
  });

  // This test is last: the media service removes leftover files some seconds after a kill, and one
  // wait covers the kills of all tests above.
  test("the media service removes every file without a database row that one of its killed processes left behind", async () => {
    await whenTidy(system);
  });
});

test.each(["media", "gateway"] as const)(
  "an upload that is interrupted because the %s service is killed leaves no file and can be repeated",
  async (service) => {
    const grant = await persistPresign(VIDEO);
    await using _cut = await openCutUpload(grant, VIDEO);
    // Waits until the media service has begun to write the uploaded bytes to a file.
    await eventually(async () => (await listUnnamed(system)).length > 0);
    for (const pid of system.pids(service)) process.kill(pid, "SIGKILL");
    expect(refusalOf(await complete(grant))).toBe("409 media_not_uploaded");
    await whenTidy(system);
    await put(grant, VIDEO);
    expect(await fetchMedia((await complete(grant)).body)).toBe("whole");
  },
);

/** A media file that a client created, and whether the client has deleted it. */
interface Life {
  readonly media: ReadyMedia;
  readonly isDeleted: boolean;
}

/** Creates a media file by upload or by import and reads it; every second file is then deleted. */
async function liveOnce(index: number): Promise<Life> {
  const media = index % 3 === 0 ? await importOne() : await ready(index % 3 === 1 ? PNG : VIDEO);
  expect(await fetchMedia(media)).toBe("whole");
  if (index % 2 === 0) return { media, isDeleted: false };
  expect([202, 404]).toContain((await remove(media.id)).status);
  return { media, isDeleted: true };
}

test("uploaded media files stay complete and deleted media files stay deleted when the media service is killed repeatedly at random moments", async () => {
  const before = await countReady();
  const lives: Life[] = [];
  const progress = { kills: 0 };
  const client = async (first: number): Promise<void> => {
    for (let index = first; progress.kills < KILLS; index += CLIENTS)
      lives.push(await liveOnce(index));
  };
  const killer = async (): Promise<void> => {
    for (; progress.kills < KILLS; progress.kills += 1) {
      await persistPresign(PNG);
      // The kill must hit a random moment, so there is no condition to wait for.
      await sleep(Math.random() * 500);
      for (const pid of system.pids("media")) process.kill(pid, "SIGKILL");
    }
  };
  await Promise.all([killer(), ...Array.from({ length: CLIENTS }, (_, index) => client(index))]);
  await whenTidy(system);
  for (const { media, isDeleted } of lives)
    expect(await fetchMedia(media)).toBe(isDeleted ? 404 : "whole");
  // Although clients repeated their requests, each media file was created once.
  const kept = lives.filter(({ isDeleted }) => !isDeleted);
  expect(await countReady()).toBe(before + kept.length);
});

testKilledAutomations(() => system);
