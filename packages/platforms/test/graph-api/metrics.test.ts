import { describe, expect, test } from "vitest";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { startMediaServer } from "../media-server.ts";
import { mp4Media } from "../test-media.ts";
import { signal, startTestPlatform } from "../test-platform.ts";
import { GraphSite, LOGINS } from "./graph-site.ts";

const platforms = {
  facebook: await startTestPlatform("facebook"),
  instagram: await startTestPlatform("instagram"),
};
const files = await startMediaServer();

const VALUES = { views: 120, reach: 80, likes: 7, comments: 3, shares: 2, saves: 1 };

describe.each(LOGINS)("metrics on %s", (login) => {
  const id = login === "facebook" ? "facebook" : "instagram";
  const platform = platforms[id];
  const site = new GraphSite(login, platform, files);
  const { metrics } = site;
  const all = { ...VALUES, impressions: null, saves: login === "facebook" ? null : 1 };
  /** The counters that can be read without the permission for insights. */
  const cheap = {
    views: null,
    impressions: null,
    reach: null,
    likes: 7,
    comments: 3,
    saves: null,
    shares: login === "facebook" ? 2 : null,
  };

  const setValues = (account: AccountAccess, postId: string, values: object = VALUES) =>
    platform.control("POST", "metrics", {
      platform: id,
      account: account.externalId,
      id: postId,
      ...values,
    });

  /** Reads metrics, and fails when the connector did not read them. */
  async function read(
    account: AccountAccess,
    ids: readonly string[],
    onFurtherCall?: (units: number) => void,
  ) {
    const readings = await metrics.readMetrics(account, ids, signal, onFurtherCall);
    if ("kind" in readings) throw new Error(`no metrics: ${JSON.stringify(readings)}`);
    return Object.fromEntries(readings);
  }

  async function createPost(values: object = VALUES) {
    const account = await site.createAccount();
    const postId = await site.publish(account);
    await setValues(account, postId, values);
    return { account, postId };
  }

  test(`the ${login} connector reads the metrics of a post`, async () => {
    const { account, postId } = await createPost();
    expect(await read(account, [postId])).toEqual({ [postId]: { kind: "metrics", metrics: all } });
  });

  test(`the ${login} connector reads the metrics of 25 posts with 25 calls, which use only the unit of the call budget with which the reading began`, async () => {
    const { account, postId } = await createPost();
    const ids = [postId];
    while (ids.length < metrics.maxPosts) ids.push(await site.publish(account, `${ids.length}`));
    const before = (await platform.calls()).length;
    const units: number[] = [];
    const readings = await read(account, ids, (used) => units.push(used));
    expect((await platform.calls()).length - before).toBe(25);
    expect(units).toEqual(Array.from({ length: 24 }, () => 0));
    const zero = { views: 0, reach: 0, likes: 0, comments: 0, shares: 0 };
    const none = { ...all, ...zero, saves: login === "facebook" ? null : 0 };
    const expected = ids.map((each) => [
      each,
      { kind: "metrics", metrics: each === postId ? all : none },
    ]);
    expect(readings).toEqual(Object.fromEntries(expected));
  });

  test(`the ${login} connector reports a deleted post as missing and reads the metrics of the other post`, async () => {
    const { account, postId } = await createPost();
    const unknown = login === "facebook" ? `${account.externalId}_17` : "17";
    expect(await read(account, [unknown, postId])).toEqual({
      [unknown]: { kind: "missing" },
      [postId]: { kind: "metrics", metrics: all },
    });
  });

  test(`each read of a post after the first 25 of one reading on ${login} uses a 25th of a unit of the call budget`, async () => {
    const { account, postId } = await createPost();
    const unknown = login === "facebook" ? `${account.externalId}_17` : "17";
    const ids = [postId, ...Array.from({ length: 24 }, (_, index) => `${unknown}${index}`)];
    await platform.addFault("metrics", "status", { status: 400 });
    const units: number[] = [];
    await read(account, ids, (used) => units.push(used));
    expect(units).toEqual([...Array.from({ length: 24 }, () => 0), 1 / 25]);
  });

  test(`the ${login} connector reports a post of another account as missing`, async () => {
    const { postId } = await createPost();
    const stranger = await site.createAccount();
    expect(await read(stranger, [postId])).toEqual({ [postId]: { kind: "missing" } });
  });

  test(`without the permission for insights, the ${login} connector reads only the counters of a post`, async () => {
    const { account, postId } = await createPost();
    await platform.addFault("metrics", "status", { status: 403 });
    expect(await read(account, [postId])).toEqual({
      [postId]: { kind: "metrics", metrics: cheap },
    });
  });

  test(`if the platform refuses the insights of a post, the ${login} connector still reads the post's counters`, async () => {
    const { account, postId } = await createPost();
    await platform.addFault("metrics", "status", { status: 400 });
    expect(await read(account, [postId])).toEqual({
      [postId]: { kind: "metrics", metrics: cheap },
    });
  });

  test(`insights of ${login} lag behind the counters of a post`, async () => {
    const { account, postId } = await createPost({ views: 1, likes: 1 });
    await platform.control("POST", "settings", { insightsLagMs: 60_000 });
    await platform.control("POST", "clock", { advanceMs: 60_000 });
    await setValues(account, postId);
    expect(await read(account, [postId])).toMatchObject({ [postId]: { metrics: { views: 1 } } });
    await platform.control("POST", "clock", { advanceMs: 60_000 });
    expect(await read(account, [postId])).toEqual({ [postId]: { kind: "metrics", metrics: all } });
  });

  test.each([
    [401, { kind: "token_refused" }],
    [403, { kind: "refused", code: "permission_missing" }],
    [429, { kind: "limited", retryAfterMs: 1800 }],
    [500, { kind: "failed" }],
    [503, { kind: "failed" }],
  ])(
    `a call for metrics that ${login} answers with HTTP %i has the result %o`,
    async (status, failure) => {
      const { account, postId } = await createPost();
      await platform.addFault("metrics", "status", { status, times: 2 });
      const ids = [postId, postId];
      expect(await metrics.readMetrics(account, ids, signal)).toMatchObject(failure);
    },
  );

  test.each(["drop_before", "garbage_body"])(
    `the ${login} connector reports metrics as failed after the simulated fault %s`,
    async (mode) => {
      const { account, postId } = await createPost();
      await platform.addFault("metrics", mode);
      const ids = [postId, postId];
      expect(await metrics.readMetrics(account, ids, signal)).toMatchObject({ kind: "failed" });
    },
  );

  test(`the ${login} connector reports that ${login} did not answer a call for metrics in time`, async () => {
    const { account, postId } = await createPost();
    await platform.addFault("metrics", "delay", { delayMs: 5000 });
    const soon = AbortSignal.timeout(50);
    expect(await metrics.readMetrics(account, [postId], soon)).toMatchObject({ kind: "no_answer" });
  });

  test(`scheduled refreshes of metrics on ${login} stay below Meta's limit on calls, where each post counts as a call`, () => {
    const { calls, windowMs, scope } = metrics.budget;
    expect(scope).toBe("account");
    expect((calls * metrics.maxPosts * 86_400_000) / windowMs).toBeLessThanOrEqual(4800 / 2);
  });
});

describe("metrics of videos", () => {
  async function readOne({ metrics }: GraphSite, account: AccountAccess, postId: string) {
    const readings = await metrics.readMetrics(account, [postId], signal);
    return "kind" in readings ? readings : readings.get(postId);
  }

  test("the Instagram connector reads the metrics of a reel", async () => {
    const site = new GraphSite("instagram", platforms.instagram, files);
    const account = await site.createAccount();
    const postId = await site.publish(account, "A video", [mp4Media(50_000)]);
    const values = { platform: "instagram", account: account.externalId, id: postId, views: 9 };
    await platforms.instagram.control("POST", "metrics", values);
    expect(await readOne(site, account, postId)).toMatchObject({
      kind: "metrics",
      metrics: { views: 9 },
    });
  });

  async function createVideo() {
    const platform = platforms.facebook;
    const site = new GraphSite("facebook", platform, files);
    const account = await site.createAccount();
    const postId = await site.publish(account, "A video", [mp4Media(50_000)]);
    const values = { platform: "facebook", account: account.externalId, id: postId, ...VALUES };
    await platform.control("POST", "metrics", values);
    return { platform, site, account, postId };
  }

  test("the Facebook connector reads the metrics of a video under the id that Postrider stores", async () => {
    const { site, account, postId } = await createVideo();
    expect(await readOne(site, account, postId)).toMatchObject({
      kind: "metrics",
      metrics: { views: 120, reach: 80, likes: 7 },
    });
  });

  test("the Facebook connector reads the counters of a video whose post cannot be found by the id of the video", async () => {
    const { platform, site, account, postId } = await createVideo();
    const path = `GET /v25.0/${account.externalId}_${postId}`;
    await platform.addFault(path, "status", { status: 404 });
    expect(await readOne(site, account, postId)).toMatchObject({
      kind: "metrics",
      metrics: { views: null, likes: 7, comments: 3 },
    });
  });
});
