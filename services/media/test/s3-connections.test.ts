import { createServer, type RequestListener } from "node:http";
import { listen } from "@postrider/shared/testing/listen";
import { expect, test } from "vitest";
import type { ObjectStore } from "#src/storage/object-store.ts";
import { createS3Store } from "#src/storage/s3.ts";

/**
 * Number of concurrent slow readers of objects. It exceeds the 50 connections that one client of
 * the AWS SDK opens by default.
 */
const READERS = 60;

/** Starts a simulated S3 server and a store that uses it. */
async function startS3(listener: RequestListener, openTimeoutMs?: number) {
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => listener(request, response));
  });
  const listening = await listen(server);
  const store = createS3Store(
    {
      endpoint: listening.url,
      publicEndpoint: undefined,
      region: "us-east-1",
      bucket: "media",
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
      forcePathStyle: true,
    },
    openTimeoutMs,
  );
  return {
    store,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await listening[Symbol.asyncDispose]();
    },
  };
}

async function openObject(store: ObjectStore): Promise<void> {
  const object = await store.open("objects/a");
  if (object === undefined) throw new Error("the simulated store has no such object");
}

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("bytes");
}

test("open downloads whose readers read no bytes do not prevent the S3 store from reading, writing, moving and deleting other objects", async () => {
  await using s3 = await startS3(({ method }, response) => {
    response.setHeader("etag", '"v"');
    if (method === "GET") {
      response.writeHead(200, { "content-length": 1_000_000_000 });
      response.write("the first bytes");
    } else if (method === "HEAD") response.writeHead(200, { "content-length": 5 }).end();
    else response.writeHead(method === "DELETE" ? 204 : 200).end();
  });
  await Promise.all(Array.from({ length: READERS }, () => openObject(s3.store)));

  await openObject(s3.store);
  expect(await s3.store.stat("objects/b")).toEqual({ bytes: 5, version: '"v"' });
  expect(await s3.store.put("objects/c", bytes())).toMatchObject({ bytes: 5 });
  await s3.store.delete("objects/d");
});

test("reading an object fails when the S3 store does not begin to answer in time", async () => {
  await using s3 = await startS3(() => undefined, 50);
  await expect(openObject(s3.store)).rejects.toThrow(
    "the object store did not answer a read within 50 ms",
  );
});

test("the time limit for beginning to answer does not end a read whose bytes take longer", async () => {
  const { promise: lateRead, resolve: sendRest } = Promise.withResolvers<void>();
  await using s3 = await startS3((_request, response) => {
    response.writeHead(200, { "content-length": 8, etag: '"v"' });
    response.write("fast");
    void lateRead.then(() => response.end("late"));
  }, 300);
  const object = await s3.store.open("objects/a");
  setTimeout(sendRest, 600);
  const read = await Array.fromAsync(object?.content ?? []);
  expect(Buffer.concat(read).toString()).toBe("fastlate");
});
