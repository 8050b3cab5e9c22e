import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@postrider/shared/ids";
import { afterEach, beforeEach, expect, test } from "vitest";
import { identifyOwner, TempSpace } from "./temp-space.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "temp-space-"));
});
afterEach(() => rm(folder, { recursive: true }));

const NEVER = new AbortController().signal;

test("a media process that starts deletes the temporary folders of processes that have ended, and no other folders", async () => {
  const owner = await identifyOwner();
  const [host, pid] = owner.split("-");
  const running = `media-check-${owner}-${newId()}`;
  const restarted = `media-check-${host}-${pid}-1-${newId()}`;
  const ended = `media-check-${host}-4194304-1-${newId()}`;
  const unknown = `media-check-00000000-1-1-${newId()}`;
  for (const name of [running, restarted, ended, unknown, "another-folder"])
    await mkdir(join(folder, name));
  const space = new TempSpace({ folder, bytes: 10 });

  expect(await space.removeAbandoned(new Date(0))).toBe(2);
  expect((await readdir(folder)).toSorted()).toEqual(
    [running, unknown, "another-folder"].toSorted(),
  );

  expect(await space.removeAbandoned(new Date(Date.now() + 60_000))).toBe(1);
  expect((await readdir(folder)).toSorted()).toEqual([running, "another-folder"].toSorted());
});

test("a media process can start before its temporary folder exists", async () => {
  const space = new TempSpace({ folder: join(folder, "missing"), bytes: 10 });
  expect(await space.removeAbandoned(new Date())).toBe(0);
});

test("one workspace cannot reserve all temporary space of a media process, so another workspace can still reserve some", async () => {
  const space = new TempSpace({ folder, bytes: 40 });
  const reserve = async (workspaceId: string, bytes: number) =>
    await space.reserve({ workspaceId, bytes, signal: NEVER });
  const first = await reserve("a", 10);
  let isSecondReserved = false;
  const second = reserve("a", 10).then((space) => {
    isSecondReserved = true;
    return space;
  });
  using _other = await reserve("b", 10);
  expect(isSecondReserved).toBe(false);
  first[Symbol.dispose]();
  using _second = await second;
});

test("small files never wait for temporary space behind large files", async () => {
  const space = new TempSpace({ folder, bytes: 6_400 });
  const reserve = async (workspaceId: string, bytes: number) =>
    await space.reserve({ workspaceId, bytes, signal: NEVER });
  const first = await reserve("a", 1_600);
  using _other = await reserve("b", 800);
  const waiting = reserve("c", 1_600);
  using _small = await reserve("d", 50);
  first[Symbol.dispose]();
  using _last = await waiting;
});

test("one workspace gets at most half of the temporary space, whatever the length of its file", async () => {
  const space = new TempSpace({ folder, bytes: 6_400 });
  using _first = await space.reserve({ workspaceId: "a", bytes: 6_400, signal: NEVER });
  using _second = await space.reserve({ workspaceId: "b", bytes: 6_400, signal: NEVER });
});

test("files of unknown length that have begun leave space for others, and get their next parts before the share of the free space is looked at", async () => {
  const space = new TempSpace({ folder, bytes: 6_400 });
  const reserve = async (workspaceId: string, isFirst: boolean) =>
    await space.reserve({
      workspaceId,
      bytes: 1_600,
      part: { bytes: 800, isFirst },
      signal: NEVER,
    });
  using _first = await reserve("a", true);
  using _second = await reserve("b", true);
  using _other = await space.reserve({ workspaceId: "c", bytes: 800, signal: NEVER });
  using _next = await reserve("a", false);
});
