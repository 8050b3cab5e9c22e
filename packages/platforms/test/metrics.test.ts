import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createBlueskyMetricsConnector } from "#src/bluesky/metrics/connector.ts";
import { createBlueskyPublishingConnector } from "#src/bluesky/publishing/connector.ts";
import { createTid } from "#src/bluesky/publishing/put-post.ts";
import type { MetricsConnector, MetricsReading, PostMetrics } from "#src/metrics/connector.ts";
import type { PlatformId } from "#src/platform-id.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { PLATFORM_FACTS } from "#src/registry.ts";
import { createTiktokMetricsConnector } from "#src/tiktok/metrics/connector.ts";
import { createTiktokPublishingConnector } from "#src/tiktok/publishing/connector.ts";
import { createXMetricsConnector } from "#src/x/metrics/connector.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import { createYoutubeMetricsConnector } from "#src/youtube/metrics/connector.ts";
import { createYoutubePublishingConnector } from "#src/youtube/publishing/connector.ts";
import { refused } from "./results.ts";
import { mp4Media } from "./test-media.ts";
import { signal, startTestPlatform, type TestPlatform } from "./test-platform.ts";

interface Site {
  readonly platform: TestPlatform;
  readonly publishing: PublishingConnector;
  readonly metrics: MetricsConnector;
  /** An id of a post that does not exist. */
  readonly unknownId: string;
}

async function startSite(
  name: PlatformId,
  unknownId: string,
  create: (baseUrl: string) => Pick<Site, "publishing" | "metrics">,
): Promise<Site> {
  const platform = await startTestPlatform(name);
  return { platform, unknownId, ...create(platform.url) };
}

const SITES = [
  await startSite("x", "12345", (baseUrl) => ({
    publishing: createXPublishingConnector({ baseUrl, mayResend: true }),
    metrics: createXMetricsConnector({ baseUrl }),
  })),
  await startSite("tiktok", "7000000000000000000", (baseUrl) => ({
    publishing: createTiktokPublishingConnector({ baseUrl }),
    metrics: createTiktokMetricsConnector({ baseUrl }),
  })),
  await startSite("youtube", "unknown", (baseUrl) => ({
    publishing: createYoutubePublishingConnector({ baseUrl }),
    metrics: createYoutubeMetricsConnector({ baseUrl }),
  })),
  await startSite("bluesky", "3lbmissing2222", (baseUrl) => ({
    publishing: createBlueskyPublishingConnector({ baseUrl, videoBaseUrl: baseUrl }),
    metrics: createBlueskyMetricsConnector({ baseUrl }),
  })),
].map((site) => ({ name: site.metrics.platform, ...site }));

type NamedSite = (typeof SITES)[number];

function siteOf(platform: PlatformId): NamedSite {
  const site = SITES.find(({ name }) => name === platform);
  if (site === undefined) throw new Error(`no site of ${platform}`);
  return site;
}

async function createAccount({ name, platform }: NamedSite): Promise<Publication> {
  const media = name === "tiktok" || name === "youtube" ? [mp4Media(1000)] : [];
  const made = await platform.createPublication(media, "count me");
  return { ...made, title: "A video", privacy: "public" };
}

/** Publishes a post of the account and returns its id. */
async function publish({ platform, publishing }: NamedSite, account: Publication): Promise<string> {
  await platform.publish(publishing, account);
  // TikTok gives a post its id a few seconds after it has the whole video.
  await platform.control("POST", "clock", { advanceMs: 5000 });
  const id = (await platform.visible()).at(-1)?.id;
  if (id === undefined) throw new Error("not published");
  return id;
}

const setMetrics = (
  { name, platform }: NamedSite,
  account: Publication,
  id: string,
  values: Partial<PostMetrics>,
) =>
  platform.control("POST", "metrics", {
    platform: name,
    account: account.externalId,
    id,
    ...values,
  });

async function read(
  { metrics }: NamedSite,
  account: Publication,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MetricsReading>> {
  const readings = await metrics.readMetrics(account, ids, signal);
  if ("kind" in readings) throw new Error(`the metrics were not read: ${JSON.stringify(readings)}`);
  return readings;
}

const NONE: PostMetrics = {
  views: null,
  impressions: null,
  reach: null,
  likes: null,
  comments: null,
  shares: null,
  saves: null,
};
const SET = { views: 1, impressions: 2, reach: 3, likes: 4, comments: 5, shares: 6, saves: 7 };

describe.each(SITES)("metrics of $name posts", (site) => {
  const { name, platform, metrics, unknownId } = site;

  test(`the ${name} connector reads exactly the counters that the platform rules of ${name} list`, async () => {
    const account = await createAccount(site);
    const id = await publish(site, account);
    await setMetrics(site, account, id, SET);
    const { names } = PLATFORM_FACTS[name].rules.metrics;
    const expected = Object.fromEntries(
      Object.entries(SET).map(([counter, value]) => [
        counter,
        names.includes(counter) ? value : null,
      ]),
    );
    expect(await read(site, account, [id])).toEqual(
      new Map([[id, { kind: "metrics", metrics: expected }]]),
    );
  });

  test(`the ${name} connector reads as many posts with one call as its field maxPosts says, and reports each unknown post as missing`, async () => {
    const account = await createAccount(site);
    const id = await publish(site, account);
    const others = Array.from({ length: metrics.maxPosts - 1 }, (_, index) =>
      name === "bluesky"
        ? `3lbmissing22${String((index % 5) + 2)}${String(Math.floor(index / 5) + 2)}`
        : `${unknownId.slice(0, -2)}${String(index).padStart(2, "0")}`,
    );
    const before = (await platform.listRequests()).length;
    const readings = await read(site, account, [...others, id]);
    expect(readings.size).toBe(metrics.maxPosts);
    expect(readings.get(id)).toMatchObject({ kind: "metrics" });
    expect(others.map((other) => readings.get(other))).toEqual(
      others.map(() => ({ kind: "missing" })),
    );
    const operations = (await platform.listRequests()).slice(before);
    expect(operations.filter(({ operation }) => operation === "metrics")).toHaveLength(1);
  });

  test(`the ${name} connector returns outdated counters while the simulated ${name} answers with outdated data`, async () => {
    const account = await createAccount(site);
    const id = await publish(site, account);
    await setMetrics(site, account, id, { likes: 1 });
    await platform.control("POST", "clock", { advanceMs: 60_000 });
    await setMetrics(site, account, id, { likes: 2 });
    const likes = async () => {
      const reading = (await read(site, account, [id])).get(id);
      return reading?.kind === "metrics" ? reading.metrics.likes : undefined;
    };
    expect(await likes()).toBe(2);
    const stale = { platform: name, mode: "stale_reads", delayMs: 30_000 };
    await platform.control("POST", "faults", stale);
    expect(await likes()).toBe(1);
  });

  test.each([
    ["status", { status: 401 }, { kind: "token_refused" }],
    ["status", { status: 403 }, { kind: "refused" }],
    ["status", { status: 429 }, { kind: "limited", retryAfterMs: expect.any(Number) }],
    ["status", { status: 500 }, { kind: "failed" }],
    ["status_after_commit", { status: 502 }, { kind: "failed" }],
    ["drop_before", {}, { kind: "failed" }],
    ["garbage_body", {}, { kind: "failed" }],
  ])(
    `the simulated fault %s %j in a call that reads ${name} metrics becomes the failure %j`,
    async (mode, extra, failure) => {
      const account = await createAccount(site);
      await platform.addFault("metrics", mode, extra);
      expect(await metrics.readMetrics(account, [unknownId], signal)).toMatchObject(failure);
    },
  );

  test(`the ${name} connector reports that ${name} did not answer a call for metrics in time`, async () => {
    const account = await createAccount(site);
    await platform.addFault("metrics", "delay", { delayMs: 2000 });
    const soon = AbortSignal.timeout(50);
    expect(await metrics.readMetrics(account, [unknownId], soon)).toMatchObject({
      kind: "no_answer",
    });
  });
});

test("the YouTube connector reports a deleted video as missing when it reads metrics", async () => {
  const site = siteOf("youtube");
  const account = await createAccount(site);
  const id = await publish(site, account);
  await site.publishing.delete(account, id, signal);
  expect(await read(site, account, [id])).toEqual(new Map([[id, { kind: "missing" }]]));
});

describe("Bluesky posts that Bluesky does not show", () => {
  const site = siteOf("bluesky");

  test("a Bluesky post that was deleted is reported as missing", async () => {
    const account = await createAccount(site);
    const id = await publish(site, account);
    await site.publishing.delete(account, id, signal);
    expect(await read(site, account, [id])).toEqual(new Map([[id, { kind: "missing" }]]));
  });

  test("a Bluesky post whose record cannot be read is not reported as missing", async () => {
    const account = await createAccount(site);
    await site.platform.addFault("GET /xrpc/com.atproto.repo.getRecord", "drop_before");
    expect(await read(site, account, [site.unknownId])).toEqual(
      new Map([[site.unknownId, { kind: "failed", message: expect.any(String) }]]),
    );
  });
});

test("X's errors about single posts leave the other posts of the call readable", async () => {
  const site = siteOf("x");
  const account = await createAccount(site);
  const id = await publish(site, account);
  await setMetrics(site, account, id, { likes: 3 });
  const readings = await read(site, account, [site.unknownId, id]);
  expect(readings).toEqual(
    new Map<string, MetricsReading>([
      [site.unknownId, { kind: "missing" }],
      [
        id,
        {
          kind: "metrics",
          metrics: { ...NONE, impressions: 0, likes: 3, comments: 0, shares: 0, saves: 0 },
        },
      ],
    ]),
  );
});

/**
 * Starts a server that answers each path below `/` with one JSON value, and 404 to every other
 * path.
 */
async function startServer(answers: Readonly<Record<string, unknown>>): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const answer = answers[pathname];
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? {}));
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ACCOUNT = {
  externalId: "did:plc:account",
  username: "ada",
  accessToken: "token",
  attributes: {},
};

test("metrics of a Bluesky post that exists but is not shown are read again during its first hour, and reported as refused afterwards", async () => {
  const baseUrl = await startServer({
    "/xrpc/app.bsky.feed.getPosts": { posts: [] },
    "/xrpc/com.atproto.repo.getRecord": { uri: "at://did:plc:account/app.bsky.feed.post/x" },
  });
  const young = createTid(new Date(Date.now() - 60_000), 0);
  const old = createTid(new Date(Date.now() - 3_700_000), 0);
  const connector = createBlueskyMetricsConnector({ baseUrl });
  expect(await connector.readMetrics(ACCOUNT, [young, old], signal)).toEqual(
    new Map<string, MetricsReading>([
      [young, { kind: "no_answer", message: "Bluesky does not show the post yet" }],
      [
        old,
        { kind: "refused", code: "content_rejected", message: "Bluesky does not show the post" },
      ],
    ]),
  );
});

test("metrics of an X post that X refuses to show are reported as refused, and metrics of a post missing from X's answer as failed", async () => {
  const detail = "Sorry, you are not authorized to see the Tweet with ids: [1].";
  const type = "https://api.x.com/2/problems/not-authorized-for-resource";
  const baseUrl = await startServer({
    "/2/tweets": { errors: [{ resource_id: "1", detail, type }] },
  });
  const connector = createXMetricsConnector({ baseUrl });
  expect(await connector.readMetrics(ACCOUNT, ["1", "2"], signal)).toEqual(
    new Map<string, MetricsReading>([
      ["1", { kind: "refused", code: "account_action_needed", message: detail }],
      ["2", { kind: "failed", message: "X's answer does not mention the post" }],
    ]),
  );
});

test("the metrics of a video that YouTube has rejected after its upload come with the reason", async () => {
  const status = { uploadStatus: "rejected", rejectionReason: "copyright" };
  const items = [
    { id: "1", statistics: { viewCount: "12" }, status },
    { id: "2", statistics: { viewCount: "3" }, status: { uploadStatus: "processed" } },
  ];
  const baseUrl = await startServer({ "/youtube/v3/videos": { items } });
  const connector = createYoutubeMetricsConnector({ baseUrl });
  const message: unknown = expect.stringContaining("copyright");
  expect(await connector.readMetrics(ACCOUNT, ["1", "2"], signal)).toEqual(
    new Map([
      [
        "1",
        {
          kind: "metrics",
          metrics: { ...NONE, views: 12 },
          caveat: { code: "content_rejected", message },
        },
      ],
      ["2", { kind: "metrics", metrics: { ...NONE, views: 3 } }],
    ]),
  );
});

test("counters that YouTube hides are unknown, not zero", async () => {
  const items = [{ id: "1", statistics: { viewCount: "12", favoriteCount: "0" } }];
  const baseUrl = await startServer({ "/youtube/v3/videos": { items } });
  const connector = createYoutubeMetricsConnector({ baseUrl });
  expect(await connector.readMetrics(ACCOUNT, ["1"], signal)).toEqual(
    new Map([["1", { kind: "metrics", metrics: { ...NONE, views: 12 } }]]),
  );
});

test("reading metrics of a TikTok account without the permission to list videos, or a YouTube account without any, ends as `permission_missing`", async () => {
  const tiktok = await startServer({
    "/v2/video/query/": { data: {}, error: { code: "scope_not_authorized", message: "no" } },
  });
  expect(
    await createTiktokMetricsConnector({ baseUrl: tiktok }).readMetrics(ACCOUNT, ["1"], signal),
  ).toMatchObject(refused("permission_missing"));
  const { platform, metrics } = siteOf("youtube");
  await platform.addFault("metrics", "status", { status: 403 });
  const account = await createAccount(siteOf("youtube"));
  expect(await metrics.readMetrics(account, ["1"], signal)).toMatchObject(
    refused("permission_missing"),
  );
});
