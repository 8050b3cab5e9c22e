import { spawn } from "node:child_process";
import { createSecretKey } from "node:crypto";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Handles } from "@postrider/platforms/publishing/handles";
import type { PrepareStep } from "@postrider/platforms/publishing/steps";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { createHandleSealing } from "#src/publishing/db/handles.ts";
import type { StoredHandles } from "#src/publishing/domain/task.ts";
import {
  openDatabase,
  readHandles,
  readTask,
  request,
  SEALING,
  startWorker,
  World,
  type TestTarget,
  untilStatus,
} from "./fixture.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const ADDRESS = "https://upload.example.test/?upload_id=secret-upload";
const MADE: Handles = { uri: ADDRESS };
const KEY = { id: "k1", secret: createSecretKey(Buffer.alloc(32, 7)) };

const database = await openDatabase(8);
afterAll(() => database[Symbol.asyncDispose]());

/** A step that returns an upload address once and then waits until the test continues it. */
function uploadStep(seen: Handles[], waitMs = 600_000): PrepareStep {
  return {
    name: "upload",
    isDone: () => false,
    run: (_publication, handles) => {
      seen.push(handles);
      const handle = handles.uri === undefined ? { handles: MADE } : {};
      return Promise.resolve({ kind: "wait", afterMs: waitMs, ...handle });
    },
  };
}

async function readStored({ targetId }: TestTarget): Promise<StoredHandles | undefined> {
  const [row] = await database.sql<{ handles: StoredHandles }[]>`
    select handles from publish_tasks where target_id = ${targetId}`;
  return row?.handles ?? undefined;
}

async function store(target: TestTarget, handles: StoredHandles): Promise<void> {
  await database.sql`
    update publish_tasks
    set handles = ${database.sql.json(handles)}
    where target_id = ${target.targetId}`;
}

async function wake({ targetId }: TestTarget): Promise<void> {
  await database.sql`update publish_tasks set wake_at = now() where target_id = ${targetId}`;
}

/** Returns a target whose upload has begun and waits. */
async function begun(world: World, seen: Handles[]): Promise<TestTarget> {
  world.prepare = [uploadStep(seen)];
  const target = world.addTarget();
  await request(database.sql, target);
  await using _worker = startWorker(database, world);
  await eventually(async () => {
    const { status } = await readTask(database.sql, target);
    return status === "queued" && (await readStored(target)) !== undefined;
  });
  return target;
}

test("a publish task whose platform answers a step with more than is stored for a post fails, and nothing of it is stored", async () => {
  const world = new World();
  const run = () => Promise.resolve({ uri: "x".repeat(128 * 1024 + 1) });
  world.prepare = [{ name: "upload", isDone: () => false, run }];
  const target = world.addTarget();
  await request(database.sql, target);
  await using _worker = startWorker(database, world);
  await untilStatus(database.sql, target, "failed");
  expect(await readTask(database.sql, target)).toMatchObject({ errorCode: "content_rejected" });
  expect(await readStored(target)).toBeUndefined();
});

test("the upload address of a publish task is stored encrypted, and the next worker continues the upload at this address", async () => {
  const world = new World();
  const seen: Handles[] = [];
  const target = await begun(world, seen);

  const stored = JSON.stringify(await readStored(target));
  expect(stored).not.toContain("secret-upload");
  expect(stored).toMatch(/^\{"uri":\{"sealed":"v1\.k1\.[^"]+"\}\}$/);
  expect(await readHandles(database.sql, target)).toEqual(MADE);

  await wake(target);
  await using _next = startWorker(database, world);
  await eventually(() => seen.length > 1);
  expect(seen).toEqual([{}, MADE]);
});

test.each<[string, (own: StoredHandles, other: StoredHandles) => StoredHandles]>([
  ["was copied from another task", (_own, other) => other],
  ["was replaced by plain text", () => ({ uri: "https://attacker.example" })],
  ["was copied from another field of the task", ({ uri = "" }) => ({ token: uri })],
])(
  "an encrypted upload address that %s is not used, and its target is published after the original address is put back",
  async (_, mix) => {
    const world = new World();
    const seen: Handles[] = [];
    const target = await begun(world, seen);
    const other = await begun(world, []);
    const [own = {}, theirs = {}] = [await readStored(target), await readStored(other)];
    world.prepare = [uploadStep(seen)];
    await store(target, mix(own, theirs));
    await wake(target);
    const { fence } = await readTask(database.sql, target);
    await using _worker = startWorker(database, world);
    await eventually(async () => {
      const task = await readTask(database.sql, target);
      return task.fence > fence && task.status === "queued";
    });
    expect(seen).toHaveLength(1);
    expect(world.calls).toEqual([]);

    // After the original address of the task is put back, the upload continues from where it was.
    world.prepare = [{ ...uploadStep(seen), isDone: ({ uri }) => uri === ADDRESS }];
    await store(target, own);
    await wake(target);
    await untilStatus(database.sql, target, "published");
    expect(world.calls).toMatchObject([{ handles: MADE }]);
  },
);

test("an upload address that was encrypted with an older key stays readable after a newer key is added", () => {
  const task = { targetId: "t", generation: 1 };
  const newer = { id: "k2", secret: createSecretKey(Buffer.alloc(32, 8)) };
  const both = createHandleSealing([newer, KEY]);
  expect(both.open(task, SEALING.seal(task, MADE))).toEqual(MADE);
  expect(() => SEALING.open(task, both.seal(task, MADE))).toThrow("the key k2 is not configured");
});

test("the delivery service refuses to start without a key with which stored upload addresses are encrypted, and its error names the key", async () => {
  const world = new World();
  await begun(world, []);
  const child = spawn(process.execPath, [MAIN], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PORT: "0",
      METRICS_PORT: "0",
      ROLE: "publishing",
      BUS: "postgres",
      DATABASE_URL: database.url,
      ...createTestIdentities().env("delivery"),
      MEDIA_KEY: "m".repeat(32),
      HANDLE_KEYS: `k9:${Buffer.alloc(32, 9).toString("base64")}`,
    },
  });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await once(child, "exit")) as [number | null];
  expect(code).not.toBe(0);
  expect((await said).join()).toContain("missing in HANDLE_KEYS: k1");
});
