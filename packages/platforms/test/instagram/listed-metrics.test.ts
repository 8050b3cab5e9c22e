import { beforeEach, expect, test } from "vitest";
import type { MetricsReading } from "#src/metrics/connector.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { GraphSite } from "../graph-api/graph-site.ts";
import { startMediaServer } from "../media-server.ts";
import { signal, startTestPlatform } from "../test-platform.ts";

const platform = await startTestPlatform("instagram");
const files = await startMediaServer();
const site = new GraphSite("instagram", platform, files);

const VALUES = { views: 120, reach: 80, likes: 7, comments: 3, shares: 2, saves: 1 };
const ALL = { kind: "metrics", metrics: { ...VALUES, impressions: null } };

beforeEach(() => platform.control("POST", "settings", { quotas: false }));

const refuseReads = () =>
  platform.control("POST", "settings", { instagramPageTokenReads: "refused" });

async function createPost(account: AccountAccess, by: GraphSite = site): Promise<string> {
  const id = await by.publish(account);
  const metrics = { platform: "instagram", account: account.externalId, id, ...VALUES };
  await platform.control("POST", "metrics", metrics);
  return id;
}

async function read(account: AccountAccess, ids: readonly string[], by: GraphSite = site) {
  const before = (await platform.calls()).length;
  const units: number[] = [];
  const readings = await by.metrics.readMetrics(account, ids, signal, (used) => units.push(used));
  const calls = (await platform.calls()).length - before;
  if ("kind" in readings) return { failure: readings, calls, units };
  return { readings: Object.fromEntries<MetricsReading>(readings), calls, units };
}

test("when Instagram refuses to show single posts to a Page token, the metrics of posts are read from the list of posts", async () => {
  const account = await site.createAccount();
  const ids = [await createPost(account), await createPost(account)];
  await refuseReads();
  const { readings, units } = await read(account, ids);
  expect(readings).toEqual(Object.fromEntries(ids.map((id) => [id, ALL])));
  // One call for each post is followed by one call for a page of the list of posts, which counts as
  // 25 posts.
  expect(units).toEqual([0, 2 / 25]);
});

test("the list of an Instagram account's posts is read to its second page for the metrics of an older post", async () => {
  const account = await site.createAccount();
  const oldest = await createPost(account);
  for (let count = 0; count < 25; count += 1) await site.publish(account, `Post ${count}`);
  await refuseReads();
  expect(await read(account, [oldest])).toMatchObject({ readings: { [oldest]: ALL } });
});

test("without insights, the list of an Instagram account's posts gives the likes and comments of a post", async () => {
  const account = await site.createAccount();
  const id = await createPost(account);
  await refuseReads();
  const path = `GET /v25.0/${account.externalId}/media`;
  await platform.addFault(path, "status", { status: 403 });
  expect(await read(account, [id])).toMatchObject({
    readings: { [id]: { kind: "metrics", metrics: { views: null, likes: 7, comments: 3 } } },
  });
});

test("a deleted Instagram post is reported as missing although the Page token may not read single posts", async () => {
  const account = await site.createAccount();
  const id = await createPost(account);
  await refuseReads();
  expect(await read(account, [id, "17"])).toMatchObject({
    readings: { [id]: ALL, "17": { kind: "missing" } },
  });
});

test("finding out that an Instagram post was deleted takes two further calls when the Page token may read single posts", async () => {
  const account = await site.createAccount();
  for (let count = 0; count < 26; count += 1) await site.publish(account, `Post ${count}`);
  const { readings, calls } = await read(account, ["17"]);
  expect(readings).toEqual({ "17": { kind: "missing" } });
  expect(calls).toBe(3);
});

test("an Instagram post does not count as missing when neither it nor the list of posts can be read", async () => {
  const account = await site.createAccount();
  const id = await createPost(account);
  await refuseReads();
  const path = `GET /v25.0/${account.externalId}/media`;
  await platform.addFault(path, "status", { status: 500, times: 2 });
  expect(await read(account, [id])).toMatchObject({ readings: { [id]: { kind: "failed" } } });
});

test("an Instagram post on the second page of the list does not count as missing if Instagram answers for another listed post with HTTP 500", async () => {
  const account = await site.createAccount();
  const oldest = await createPost(account);
  let newest = "";
  for (let count = 0; count < 25; count += 1) newest = await site.publish(account, `Post ${count}`);
  await refuseReads();
  await platform.addFault(`GET /v25.0/${newest}`, "status", { status: 500 });
  expect(await read(account, [oldest])).toMatchObject({
    readings: { [oldest]: { kind: "failed" } },
  });
  expect(await read(account, [oldest])).toMatchObject({ readings: { [oldest]: ALL } });
});

test("accounts of Instagram Login read the metrics of single posts even while Instagram refuses to show single posts to Page tokens", async () => {
  const own = new GraphSite("instagram login", platform, files);
  const account = await own.createAccount();
  const id = await createPost(account, own);
  await refuseReads();
  expect(await read(account, [id], own)).toMatchObject({ readings: { [id]: ALL }, calls: 1 });
});
