import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sampleJpeg, sampleMp4 } from "@postrider/local/demo/sample-media";
import { makeTestFolder } from "@postrider/local/stack/test-folder";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { upload } from "../support/requests/media.ts";
import { create, whenTargets } from "../support/requests/posts.ts";
import { startSystem, type System } from "../support/system/system.ts";
import { PdsProxy } from "./pds-proxy.ts";

const POST = "app.bsky.feed.post";
const SETTLE_MS = 60_000;

let proxy: PdsProxy;
let pds: ChildProcess;
let system: System;
let made = 0;

async function startPds(): Promise<string> {
  const installed = join(import.meta.dirname, "node_modules/@atproto/pds");
  if (!existsSync(installed)) throw new Error("no PDS is installed here: npm run test:pds does it");
  const { host } = new URL(proxy.url);
  const folder = makeTestFolder("pds");
  const words = [join(import.meta.dirname, "server.mjs"), folder];
  pds = spawn(process.execPath, [...words, `did:web:${encodeURIComponent(host)}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (pds.stdout === null) throw new Error("it has no output");
  const [line] = (await once(createInterface(pds.stdout), "line")) as string[];
  return (JSON.parse(line ?? "") as { url: string }).url;
}

beforeAll(async () => {
  proxy = await PdsProxy.start();
  proxy.target = await startPds();
  const env = { BLUESKY_BASE_URL: proxy.url, BLUESKY_VIDEO_BASE_URL: proxy.url };
  system = await startSystem("postgres", { env });
});
afterAll(async () => {
  if (pds.exitCode === null && pds.signalCode === null) {
    pds.kill("SIGTERM");
    await once(pds, "exit");
  }
  await proxy[Symbol.asyncDispose]();
  await system[Symbol.asyncDispose]();
});
beforeEach(() => {
  proxy.calls.length = 0;
});

interface Person {
  readonly did: string;
  readonly handle: string;
  /** Access token of the session that was created with the main password. */
  readonly accessJwt: string;
}

/** Sends a request directly to the Bluesky server (PDS), as users and readers do. */
async function ask(method: string, options: { json?: unknown; token?: string } = {}) {
  const { json, token } = options;
  const answer = await fetch(`${proxy.target}/xrpc/${method}`, {
    method: json === undefined ? "GET" : "POST",
    headers: {
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}

async function signUp(): Promise<Person> {
  made += 1;
  const handle = `person${made}.test`;
  const json = { handle, email: `${handle}@example.test`, password: `password of ${handle}` };
  const { body } = await ask("com.atproto.server.createAccount", { json });
  return { ...(body as Person), handle };
}

async function logIn({ handle }: Person, secret: string): Promise<string> {
  const { workspaceId } = system.local();
  const words = ["account", "connect", "bluesky", "--workspace", workspaceId];
  const account = await system.operateWith<{ id: string }>(
    `${secret}\n`,
    ...words,
    `--handle=${handle}`,
  );
  return account.id;
}

const APP_PASSWORD_NAME = "postrider";

async function connect(): Promise<{ person: Person; accountId: string }> {
  const person = await signUp();
  const { body } = await ask("com.atproto.server.createAppPassword", {
    json: { name: APP_PASSWORD_NAME },
    token: person.accessJwt,
  });
  const { password } = body as { password: string };
  return { person, accountId: await logIn(person, password) };
}

interface Blob {
  readonly ref: { readonly $link: string };
  readonly mimeType: string;
  readonly size: number;
}

interface PostRecord {
  readonly text: string;
  readonly facets?: readonly {
    readonly index: { readonly byteStart: number; readonly byteEnd: number };
    readonly features: readonly Readonly<Record<string, string>>[];
  }[];
  readonly embed?: {
    readonly images?: readonly { readonly image: Blob }[];
    readonly video?: Blob;
  };
}

/** Lists the records of the account's repository, which are public. */
async function listRecords({ did }: Person) {
  const { body } = await ask(`com.atproto.repo.listRecords?repo=${did}&collection=${POST}`);
  return (body as { records: { uri: string; value: PostRecord }[] }).records;
}

async function revisionOf({ did }: Person): Promise<string> {
  const { body } = await ask(`com.atproto.sync.getLatestCommit?did=${did}`);
  return (body as { rev: string }).rev;
}

async function readBlob({ did }: Person, { ref }: Blob): Promise<Buffer> {
  const query = `did=${did}&cid=${ref.$link}`;
  const answer = await fetch(`${proxy.target}/xrpc/com.atproto.sync.getBlob?${query}`);
  return Buffer.from(await answer.arrayBuffer());
}

async function publish(accountId: string, body: Readonly<Record<string, unknown>>) {
  const { id } = await create(system.api, { accountIds: [accountId], ...body });
  return await whenTargets(system.api, id, "published", SETTLE_MS);
}

test("the Bluesky server accepts the app password of an account and refuses another password", async () => {
  const { person, accountId } = await connect();
  const { body } = await system.api.call<{ accounts: { id: string; externalId: string }[] }>(
    "GET",
    "/accounts",
  );
  expect(body.accounts).toContainEqual(
    expect.objectContaining({
      id: accountId,
      externalId: person.did,
      username: person.handle,
      status: "active",
    }),
  );
  await expect(logIn(person, "aaaa-bbbb-cccc-dddd")).rejects.toThrow("invalid_request");
});

test("the Bluesky server gets no password for a handle that it cannot resolve", async () => {
  const person = { ...(await signUp()), handle: "unknown.test" };
  await expect(logIn(person, "aaaa-bbbb-cccc-dddd")).rejects.toThrow("invalid_request");
  const asked = proxy.calls.map(({ method }) => method);
  expect(asked).toContain("com.atproto.identity.resolveHandle");
  expect(asked).not.toContain("com.atproto.server.createSession");
});

test("the Bluesky facets of links, tags and mentions have the byte offsets of their words in the text", async () => {
  const { person, accountId } = await connect();
  const other = await signUp();
  const content = `Grüße 👋 @${other.handle}, siehe example.com/häfen und #Schiffe`;
  const { targets } = await publish(accountId, { content });
  const [record] = await listRecords(person);
  expect(record?.value.text).toBe(content);
  expect(targets[0]?.permalink).toBe(
    `https://bsky.app/profile/${person.did}/post/${record?.uri.split("/").at(-1)}`,
  );
  const bytes = Buffer.from(content);
  const found = record?.value.facets?.map(({ index, features }) => [
    bytes.subarray(index.byteStart, index.byteEnd).toString("utf8"),
    features[0]?.["did"] ?? features[0]?.["uri"] ?? features[0]?.["tag"],
  ]);
  expect(found).toEqual([
    [`@${other.handle}`, other.did],
    ["example.com/häfen", "https://example.com/häfen"],
    ["#Schiffe", "Schiffe"],
  ]);
});

test("images and videos are stored in the Bluesky repository byte for byte", async () => {
  const { person, accountId } = await connect();
  const picture = sampleJpeg();
  const image = { fileName: "a.jpg", contentType: "image/jpeg", bytes: picture };
  const video = { fileName: "a.mp4", contentType: "video/mp4", bytes: sampleMp4({ seconds: 3 }) };
  const { id: imageId } = await upload(system.api, image);
  const { id: videoId } = await upload(system.api, video);
  await publish(accountId, { content: "An image", mediaIds: [imageId] });
  await publish(accountId, { content: "", mediaIds: [videoId] });

  const records = (await listRecords(person)).map(({ value }) => value);
  const [shownVideo] = records.flatMap(({ embed }) => embed?.video ?? []);
  const [shownImage] = records.flatMap(({ embed }) => embed?.images ?? []);
  if (shownVideo === undefined || shownImage === undefined)
    throw new Error("the repository lacks the image or the video");
  expect(shownVideo).toMatchObject({ mimeType: "video/mp4", size: video.bytes.length });
  expect((await readBlob(person, shownVideo)).equals(video.bytes)).toBe(true);
  expect((await readBlob(person, shownImage.image)).equals(picture)).toBe(true);
});

test("a Bluesky post whose answer was lost is found by its record key and exists once", async () => {
  const { person, accountId } = await connect();
  proxy.addFault("com.atproto.repo.putRecord", "lose_answer");
  const { targets } = await publish(accountId, { content: "Once" });
  const [record, ...others] = await listRecords(person);
  expect(others).toEqual([]);
  expect(record?.uri).toBe(`at://${person.did}/${POST}/${targets[0]?.externalId}`);
  // Postrider found the record by reading it back, so it did not write the record again.
  expect(proxy.count("com.atproto.repo.putRecord")).toBe(1);
});

test("a Bluesky post that cannot be read back after a lost answer is written again under the same record key, so the repository contains it once", async () => {
  const { person, accountId } = await connect();
  proxy.addFault("com.atproto.repo.putRecord", "lose_answer");
  proxy.addFault("com.atproto.repo.getRecord", "bad_gateway");
  const { id } = await create(system.api, { accountIds: [accountId], content: "Still once" });
  await eventually(() => proxy.count("com.atproto.repo.putRecord") > 0, { timeoutMs: SETTLE_MS });
  const before = await eventually(async () =>
    (await listRecords(person)).length === 1 ? await revisionOf(person) : false,
  );
  await whenTargets(system.api, id, "published", SETTLE_MS);
  const puts = proxy.calls.filter(({ method }) => method === "com.atproto.repo.putRecord");
  expect(puts.map(({ status }) => status)).toEqual([200, 200]);
  expect(puts[1]?.body.equals(puts[0]?.body ?? Buffer.of())).toBe(true);
  expect(await listRecords(person)).toHaveLength(1);
  expect(await revisionOf(person)).toBe(before);
});

test("a Bluesky post is deleted even if the answer to the delete request is lost", async () => {
  const { person, accountId } = await connect();
  const { id } = await publish(accountId, { content: "Not for long" });
  proxy.addFault("com.atproto.repo.deleteRecord", "lose_answer");
  expect((await system.api.call("DELETE", `/posts/${id}`)).status).toBe(202);
  await whenTargets(system.api, id, "deleted", SETTLE_MS);
  expect(await listRecords(person)).toEqual([]);
});

async function age(accountId: string): Promise<void> {
  await system.sql`
    update accounts.credentials
    set issued_at = now() - interval '1 year', expires_at = now() - interval '1 minute'
    where account_id = ${accountId}`;
}

test("a Bluesky session is refreshed once each time its access token expires, with the newest refresh token", async () => {
  const { person, accountId } = await connect();
  for (const content of ["Renewed", "Renewed again"]) {
    await age(accountId);
    await publish(accountId, { content });
  }
  const refreshes = proxy.calls.filter(({ method }) => method.endsWith("refreshSession"));
  expect(refreshes.map(({ status }) => status)).toEqual([200, 200]);
  expect(await listRecords(person)).toHaveLength(2);
});

test("publishing fails on an account whose app password was revoked, and the user must reconnect the account", async () => {
  const { person, accountId } = await connect();
  const { status } = await ask("com.atproto.server.revokeAppPassword", {
    json: { name: APP_PASSWORD_NAME },
    token: person.accessJwt,
  });
  expect(status).toBe(200);
  const { id } = await create(system.api, {
    accountIds: [accountId],
    content: "Never",
    scheduledAt: new Date(Date.now() + 2_000).toISOString(),
  });
  await age(accountId);
  const { targets } = await whenTargets(system.api, id, "failed", SETTLE_MS);
  expect(targets[0]?.error?.code).toBe("account_reconnect_required");
  expect(await listRecords(person)).toEqual([]);
});

test("disconnecting an account deletes its session on the Bluesky server", async () => {
  const { accountId } = await connect();
  const answer = await system.api.call("DELETE", `/accounts/${accountId}`);
  expect(answer.headers.get("x-provider-revocation")).toBe("unconfirmed");
  const ended = proxy.calls.filter(({ method }) => method.endsWith("deleteSession"));
  expect(ended.map(({ status }) => status)).toEqual([200]);
});
