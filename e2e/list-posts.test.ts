import { afterAll, beforeAll, expect, test } from "vitest";
import { create, refusalOf } from "./support/posts.ts";
import { startSystem, type System } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";

const DAY_MS = 86_400_000;

let system: System;
let tenant: Tenant;
let bluesky: string;
let telegram: string;
/** Of posts on 24 days from the 10th day ahead, latest first; every third is on telegram too. */
let ids: readonly string[];

interface Page {
  readonly posts: readonly { readonly id: string; readonly status: string }[];
  readonly nextCursor: string | null;
}

const firstDay = Math.ceil(Date.now() / DAY_MS) * DAY_MS + 10 * DAY_MS;
const dayAt = (index: number) => new Date(firstDay + index * DAY_MS).toISOString();
const list = (query: string) => tenant.api.call<Page>("GET", `/posts?${query}`);

beforeAll(async () => {
  system = await startSystem("postgres");
  tenant = await openTenant(system);
  bluesky = await tenant.connect("bluesky");
  telegram = await tenant.connect("telegram");
  const posts = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      create(tenant.api, {
        content: `day ${index}`,
        accountIds: index % 3 === 0 ? [bluesky, telegram] : [bluesky],
        scheduledAt: dayAt(index),
      }),
    ),
  );
  ids = posts.map(({ id }) => id).toReversed();
});
afterAll(() => system[Symbol.asyncDispose]());

test("a walk by cursor meets every post once and in order, while others are being written", async () => {
  const met: string[] = [];
  let cursor: string | null = "";
  for (let page = 0; cursor !== null; page += 1) {
    const query = `status=scheduled&limit=${page % 2 === 0 ? 5 : 3}`;
    const answer: { readonly body: Page } = await list(
      cursor === "" ? query : `${query}&cursor=${cursor}`,
    );
    met.push(...answer.body.posts.map(({ id }) => id));
    cursor = answer.body.nextCursor;
    const other = { content: `meanwhile ${page}`, accountIds: [bluesky] };
    await create(tenant.api, { ...other, scheduledAt: dayAt(100 + page) });
    await create(tenant.api, { ...other, content: `now ${page}` });
  }
  expect(met).toEqual(ids);
});

test("filters combine, dates are whole UTC days and both count", async () => {
  const [from, to] = [dayAt(6).slice(0, 10), dayAt(12).slice(0, 10)];
  const found = await list(
    `from=${from}&to=${to}&platform=telegram&status=scheduled&createdVia=rest`,
  );
  expect(found.body.posts.map(({ id }) => id)).toEqual([ids[23 - 12], ids[23 - 9], ids[23 - 6]]);
  expect(found.body.nextCursor).toBeNull();
  for (const query of ["createdVia=mcp", "status=draft", "platform=tiktok"]) {
    expect((await list(`${query}&from=${from}`)).body.posts).toEqual([]);
  }
});

test("what cannot be asked is refused", async () => {
  const { nextCursor } = (await list("status=scheduled&limit=1")).body;
  const refusals = await Promise.all([
    list("from=2026-02-02&to=2026-02-01"),
    list("limit=0"),
    list("limit=101"),
    list("status=gone"),
    list("sort=asc"),
    list("limit=1&limit=2"),
    list("cursor=forged"),
    list(`status=draft&cursor=${nextCursor}`),
  ]);
  expect(refusals.map((answer) => refusalOf(answer).split(" ").slice(0, 2).join(" "))).toEqual([
    ...Array.from({ length: 6 }, () => "400 invalid_request"),
    ...Array.from({ length: 2 }, () => "400 invalid_cursor"),
  ]);
  expect((await list(`status=scheduled&limit=2&cursor=${nextCursor}`)).body.posts).toHaveLength(2);
});
