import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@postrider/client";
import { findStablePorts } from "@postrider/local/processes/free-port";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApi } from "./support/requests/api.ts";
import { inMs, whenPost } from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { startSystem, type System } from "./support/system/system.ts";

let eu1: System;
let us1: System;
const started: System[] = [];
beforeAll(async () => {
  const [one = 0, two = 0] = await findStablePorts(2);
  const addresses = `eu1=http://127.0.0.1:${one},us1=http://127.0.0.1:${two}`;
  const cell = (name: string) => ({ CELL: name, CELL_ADDRESSES: addresses });
  eu1 = await startSystem("postgres", { port: one, env: cell("eu1") });
  started.push(eu1);
  // Both publish to the same platform, which counts what readers see.
  const platform = { BLUESKY_BASE_URL: `${eu1.local().simulatorUrl}/bluesky` };
  us1 = await startSystem("postgres", { port: two, env: { ...cell("us1"), ...platform } });
  started.push(us1);
});
afterAll(async () => {
  await Promise.all(started.map((system) => system[Symbol.asyncDispose]()));
});

interface NewPost {
  readonly content: string;
  readonly scheduledAt?: string;
}

/** A client that follows cells and repeats each post with its key until it is accepted. */
function openClient(key: string, accountId: string) {
  let address = eu1.local().baseUrl;
  const seen = new Map<string, number>();
  const accepted: { readonly id: string; readonly content: string }[] = [];
  const send = async (body: NewPost, idempotencyKey: string) => {
    const answer = await createApi(address, key).call<{ id: string }>("POST", "/posts", {
      body: { ...body, accountIds: [accountId] },
      headers: { "idempotency-key": idempotencyKey },
    });
    const name = answer.status < 300 ? address : String(answer.status);
    seen.set(name, (seen.get(name) ?? 0) + 1);
    if (answer.status === 421) address = answer.headers.get("x-postrider-cell-address") ?? "";
    if (answer.status >= 300) return false;
    accepted.push({ id: answer.body.id, content: body.content });
    return answer.body.id;
  };
  return {
    seen,
    accepted,
    create: async (body: NewPost) => {
      const idempotencyKey = crypto.randomUUID();
      return await eventually(() => send(body, idempotencyKey));
    },
  };
}

/** One post after the other, until it is stopped. */
function startCreating({ create }: ReturnType<typeof openClient>) {
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    for (let number = 0; !stopping.signal.aborted; number += 1)
      await create({ content: `moved ${number}` });
  };
  const ended = run();
  return async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
}

test("a workspace moves to another cell under load, and its command is killed before each step: every accepted post is published once, the scheduled one by the new cell, and the old key goes on through 421", async () => {
  const tenant = await openTenant(eu1);
  const account = await tenant.connect("bluesky");
  const client = openClient(tenant.key, account);
  const scheduledAt = inMs(3_600_000);
  const scheduled = await client.create({ content: "scheduled before", scheduledAt });
  const folder = makeTestFolder("move");
  mkdirSync(folder, { recursive: true });
  const { services } = us1.local();
  const settings = {
    ACCOUNTS_URL: services.accounts[0]?.url,
    POSTS_URL: services.posts[0]?.url,
    MEDIA_SERVICE_URL: services.media[0]?.url,
    DELIVERY_URL: services.delivery[0]?.url,
    IDENTITY_KEYS: us1.secrets().identityKeys.operator,
  };
  const target = join(folder, "us1.env");
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${String(value)}`);
  writeFileSync(target, lines.join("\n"));
  const move = ["workspace", "move", tenant.id, "--target", target];
  const way = [...move, "--to", "us1", "--folder", join(folder, "export")];
  const killBefore = async (step: string): Promise<void> => {
    const kill = (note: unknown): void => {
      if ((note as { step?: string }).step === step) throw new Error(`killed before ${step}`);
    };
    await expect(eu1.operateNoting(kill, ...way)).rejects.toThrow(`killed before ${step}`);
  };
  const statusIn = async (system: System) =>
    (await system.operate<{ status: string }>("workspace", "show", tenant.id)).status;

  const stop = startCreating(client);
  await eventually(() => client.accepted.length > 10);
  await killBefore("wait");
  expect(await statusIn(eu1)).toBe("frozen");
  await eventually(async () => (client.seen.get("503") ?? 0) > 0);
  expect((await tenant.api.call("GET", "/posts")).status).toBe(200);
  await killBefore("copy");
  await killBefore("switch");
  expect([await statusIn(eu1), await statusIn(us1)]).toEqual(["frozen", "importing"]);
  await killBefore("release");
  expect([await statusIn(eu1), await statusIn(us1)]).toEqual(["moved", "importing"]);
  await eu1.operate("pause", "--workspace", tenant.id, "--reason", "a dispute");
  await expect(eu1.operate(...move, "--cancel")).rejects.toThrow("invalid_transition");
  expect(await eu1.operate(...way)).toMatchObject({ status: "moved" });
  expect(await statusIn(us1)).toBe("active");
  const own = { kind: "workspace", key: tenant.id, reason: "a dispute" };
  const { pauses } = await us1.operate<{ pauses: unknown[] }>("pauses");
  expect(pauses).toContainEqual(expect.objectContaining(own));
  await us1.operate("resume", "--workspace", tenant.id);
  await us1.sql`update delivery.pauses set created_at = now() - interval '2 minutes'`;
  await eventually(() => client.seen.has(us1.local().baseUrl));
  await stop();

  const api = createApi(us1.local().baseUrl, tenant.key);
  await eventually(async () => {
    const body = { scheduledAt: inMs(3_000) };
    return (await api.call("PATCH", `/posts/${scheduled}`, { body })).status === 200;
  });
  for (const { id } of client.accepted) await whenPost(api, id, "published");
  const texts = (await eu1.simulator.visible()).map(({ text }) => text);
  const expected = client.accepted.map(({ content }) => content);
  expect(texts.toSorted()).toEqual(expected.toSorted());
  const sentBy = async ({ sql }: System) =>
    (
      await sql`
      select from delivery.publish_attempts a
      join delivery.publish_tasks t on t.target_id = a.target_id
      where t.post_id = ${scheduled}`
    ).length;
  expect([await sentBy(eu1), await sentBy(us1)]).toEqual([0, 1]);
  // As if the old cell were restored to a moment before the move.
  await eu1.sql`
    update accounts.workspaces
    set moves_to = null, handover = null, frozen_at = null, moved_at = null
    where id = ${tenant.id}`;
  await expect(eu1.operate(...way)).rejects.toThrow("works_elsewhere");
  await eu1.operate(...move, "--to", "us1", "--give-up");
  expect([await statusIn(eu1), await statusIn(us1)]).toEqual(["moved", "active"]);
  await eventually(async () => (await tenant.api.call("GET", "/posts")).status === 421);
  const { baseUrl } = eu1.local();
  const following = createClient({ baseUrl, apiKey: tenant.key, followCells: true });
  expect((await following.getPost(scheduled)).status).toBe("published");
});
