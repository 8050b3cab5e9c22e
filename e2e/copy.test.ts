import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { sampleJpeg } from "@postrider/local/demo/sample-media";
import type { EmbeddedPostgres } from "@postrider/local/postgres/embedded-postgres";
import { findStablePort } from "@postrider/local/processes/free-port";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { eventually } from "@postrider/shared/testing/poll";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startReceiver, type Receiver } from "./support/observers/receiver.ts";
import { upload, type ReadyMedia } from "./support/requests/media.ts";
import { create, whenPost } from "./support/requests/posts.ts";
import { dumpDatabase, loadDump, startDatabase, type Dump } from "./support/system/backup.ts";
import { startSystem, type System } from "./support/system/system.ts";

async function uploadFile(system: System, fileName: string): Promise<ReadyMedia> {
  const bytes = sampleJpeg({ width: fileName.length, height: 100 });
  return await upload(system.api, { fileName, contentType: "image/jpeg", bytes });
}

/**
 * Makes everything due at once that a copy could do to the original. Returns the number of webhook
 * deliveries that wait.
 */
async function makeDue(url: string): Promise<number> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql`update media.job_runs set next_at = now()`;
  const { count } = await sql`update delivery.webhook_queue set due_at = now()`;
  await sql`update delivery.webhook_leases set wake_at = now()`;
  await sql`
    update accounts.credentials
    set issued_at = now() - interval '1 year',
      expires_at = now() - interval '1 minute',
      renew_at = now() - interval '1 minute'
    where expires_at is not null`;
  await sql.end();
  return count;
}

/**
 * Waits until all webhook deliveries of the copy have been due for some seconds and none was
 * attempted again.
 */
async function whenOverdue({ sql }: System, deliveries: number): Promise<void> {
  await eventually(async () => {
    const rows = await sql`
      select 1 from delivery.webhook_queue where due_at < now() - interval '8 seconds'`;
    expect(rows).toHaveLength(deliveries);
  });
}

const dataDir = makeTestFolder("copy");
const clusters = mkdtempSync(join(dataDir, "clusters-"));
let receiver: Receiver;
let database: EmbeddedPostgres;
let dump: Dump;
let account: string;
/** A file that the dump knows, and one that was uploaded after it. */
let known: ReadyMedia;
let later: ReadyMedia;

async function startWith(env: Readonly<Record<string, string>>): Promise<System> {
  const settings = { OUTBOUND_ALLOW: receiver.address, MEDIA_ORPHAN_SECONDS: "1", ...env };
  return await startSystem("postgres", { dataDir, env: settings });
}

// The original system has a file, a published post, and a webhook delivery that its receiver does
// not accept.
beforeAll(async () => {
  execFileSync("chmod", ["o+x", clusters]);
  receiver = await startReceiver();
  receiver.answer("/hook", 500);
  database = await startDatabase(join(clusters, "original"), await findStablePort());
  await using original = await startWith({ DATABASE_URL: database.url });
  [account = ""] = await original.connect("bluesky", 1);
  known = await uploadFile(original, "known.jpg");
  const events = { url: `${receiver.url}/hook`, events: ["post.published"] };
  const subscribed = await original.api.call("POST", "/webhooks", { body: events });
  if (subscribed.status !== 201) throw new Error(`POST /webhooks answered ${subscribed.status}`);
  const { id } = await original.api.createPost("before the backup", [account]);
  await whenPost(original.api, id, "published");
  await eventually(() => receiver.requests.length > 0);
  dump = await dumpDatabase(database.url);
  later = await uploadFile(original, "later.jpg");
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

test("a copy with the original's object store, tokens and webhook subscriptions deletes no file, sends no webhook and publishes nothing", async () => {
  const attempts = receiver.requests.length;
  await using clone = await startDatabase(join(clusters, "clone"));
  await loadDump(clone.url, dataDir, dump);
  const deliveries = await makeDue(clone.url);
  expect(deliveries).toBeGreaterThan(0);
  await using copy = await startWith({ DATABASE_URL: clone.url, DEPLOYMENT_ID: "copy" });
  const calls = await copy.simulator.publishCalls();
  expect((await copy.api.call("DELETE", `/media/${known.id}`)).status).toBe(202);
  await copy.api.createPost("of the copy", [account]);
  await whenOverdue(copy, deliveries);
  const held = "system_identifier";
  expect(await copy.operate("recovery", "status")).toMatchObject({
    heldBecause: held,
    tokens: { heldBecause: held },
    events: { heldBecause: held },
    files: { heldBecause: held, store: null },
  });
  expect(receiver.requests).toHaveLength(attempts);
  expect(await copy.simulator.publishCalls()).toBe(calls);
  expect(await copy.simulator.tokenCalls()).toBe(0);
});

test("after a copy ran on its object store, the original publishes all its files with its tokens, and sends its webhooks", async () => {
  const attempts = receiver.requests.length;
  receiver.answer("/hook", 200);
  await using original = await startWith({ DATABASE_URL: database.url });
  expect(await original.operate("recovery", "status")).toMatchObject({
    heldBecause: null,
    files: { heldBecause: null, keptUntil: null, store: { heldBecause: null } },
  });
  const { id } = await create(original.api, {
    content: "after the copy",
    accountIds: [account],
    mediaIds: [known.id, later.id],
  });
  await whenPost(original.api, id, "published");
  await eventually(() => expect(receiver.requests.length).toBeGreaterThan(attempts));
});
