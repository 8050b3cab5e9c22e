import { beforeEach, expect, test } from "vitest";
import { createConditionalFetch } from "./kept-answers.ts";

/** What was asked for: the tag that was named, or null. */
let asked: (string | null)[];
/** What the server has. */
let body: unknown;
let now: number;
let type: string;

const tagOf = (text: string) => `W/"${text.length}-${text.at(-2)}"`;
const server: typeof fetch = (_input, init) => {
  const named = new Headers(init?.headers).get("if-none-match");
  asked.push(named);
  const text = JSON.stringify(body);
  const etag = tagOf(text);
  const isKnown = named === etag;
  const headers = {
    etag,
    "x-request-id": `r${asked.length}`,
    ...(isKnown ? {} : { "content-type": type }),
  };
  return Promise.resolve(
    isKnown ? new Response(null, { status: 304, headers }) : new Response(text, { headers }),
  );
};

beforeEach(() => {
  asked = [];
  body = { a: 1 };
  now = 0;
  type = "application/json; charset=utf-8";
});

const start = () => {
  const read = createConditionalFetch(server, () => now);
  return async (url = "/a", init?: RequestInit) => {
    const response = await read(url, init);
    const { status, headers } = response;
    return [status, headers.get("x-request-id"), await response.json()] as const;
  };
};

test("an answer that has not changed is read without its body, and given as it was", async () => {
  const read = start();
  expect(await read()).toEqual([200, "r1", { a: 1 }]);
  expect(await read()).toEqual([200, "r2", { a: 1 }]);
  expect(asked).toEqual([null, tagOf('{"a":1}')]);
});

test("an answer that has changed is given anew, and then kept", async () => {
  const read = start();
  await read();
  body = { a: 2 };
  expect(await read()).toEqual([200, "r2", { a: 2 }]);
  expect(await read()).toEqual([200, "r3", { a: 2 }]);
  expect(asked[2]).toBe(tagOf('{"a":2}'));
});

test("another address, another language, a write and a read that names a tag itself are asked for as they are", async () => {
  const read = start();
  await read();
  await read("/b");
  await read("/a", { headers: { "accept-language": "ko" } });
  await read("/a", { method: "POST" });
  await read("/a", { headers: { "if-none-match": '"own"' } });
  expect(asked).toEqual([null, null, null, null, '"own"']);
});

test("an answer that is an hour old is read anew, since the addresses of files in it end", async () => {
  const read = start();
  await read();
  now = 3_600_000;
  await read();
  expect(asked).toEqual([null, null]);
});

test("what is not JSON is not kept, and of too much the oldest is forgotten", async () => {
  const read = start();
  type = "text/plain";
  await read("/text");
  type = "application/json";
  body = "x".repeat(3_000_000);
  for (const url of ["/1", "/2", "/3"]) await read(url);
  asked = [];
  for (const url of ["/text", "/3", "/1"]) await read(url);
  expect(asked.map((tag) => tag !== null)).toEqual([false, true, false]);
});
