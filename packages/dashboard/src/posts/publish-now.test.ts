import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type * as PublishNow from "./publish-now.ts";

let publish: typeof PublishNow;

beforeAll(async () => {
  vi.stubGlobal("location", { origin: "http://localhost" });
  publish = await import("./publish-now.ts");
});

let read: { readonly status: string; readonly updatedAt: string };
let published: (string | null)[] = [];

beforeEach(() => {
  published = [];
  vi.stubGlobal("fetch", (_url: URL, { method, headers }: RequestInit) => {
    if (method === "POST") published.push(new Headers(headers).get("if-match"));
    const body = JSON.stringify({ id: "p", ...read });
    return Promise.resolve(new Response(body, { headers: { etag: '"2"' } }));
  });
});
afterEach(() => vi.unstubAllGlobals());

const SHOWN = { id: "p", updatedAt: "2026-12-04T09:00:00.000Z" };

test("a post is published as the version that is shown", async () => {
  read = { status: "draft", updatedAt: SHOWN.updatedAt };
  await publish.publishNow(SHOWN);
  expect(published).toEqual(['"2"']);
});

test("a post that was changed after it was shown is not published", async () => {
  read = { status: "draft", updatedAt: "2026-12-04T09:00:01.000Z" };
  const error = await publish.publishNow(SHOWN).catch((caught: unknown) => caught);
  expect(publish.isChangedMeanwhile(error)).toBe(true);
  expect(published).toEqual([]);
});

test("of a post that is on its way the server says so", async () => {
  read = { status: "publishing", updatedAt: "2026-12-04T09:00:01.000Z" };
  await publish.publishNow(SHOWN);
  expect(published).toHaveLength(1);
});
