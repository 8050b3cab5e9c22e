import { fileURLToPath } from "node:url";
import { serviceNames } from "@postrider/local/stack/services";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApi, type Api, type PostRecord } from "./support/requests/api.ts";
import { expectAll } from "./support/requests/burst.ts";
import { create, inMs, whenPost } from "./support/requests/posts.ts";
import { startSystem, type System } from "./support/system/system.ts";

const AHEAD_MS = 5 * 60_000;
const SETTLE_MS = 60_000;
const PLATFORMS = ["bluesky", "x", "telegram"];
/** Index of the replica whose clock is wrong; the index is the same in each service. */
const AHEAD = 1;
const PRELOAD = fileURLToPath(new URL("support/system/clock-ahead.ts", import.meta.url));

let system: System;
/** One API client for each replica of the gateway. */
let apis: readonly Api[];
let accountIds: readonly string[];

beforeAll(async () => {
  system = await startSystem("postgres", {
    replicas: 2,
    replica: (_service, index) =>
      index === AHEAD ? { env: { NODE_OPTIONS: `--import ${PRELOAD}` } } : {},
  });
  const { services, apiKey } = system.local();
  apis = services.gateway.map(({ url }) => createApi(url, apiKey));
  const connected = await Promise.all(PLATFORMS.map((platform) => system.connect(platform, 4)));
  accountIds = connected.flat();
  for (const service of serviceNames) process.kill(system.pids(service)[AHEAD] ?? 0, "SIGUSR2");
  for (const service of serviceNames) await whenSkewed(services[service][AHEAD]?.metricsUrl ?? "");
});
afterAll(() => system[Symbol.asyncDispose]());

/**
 * Waits until the replica at `url` reports that its clock is wrong. The gateway is left out: it has
 * no database with which it could compare its clock.
 */
async function whenSkewed(url: string): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(`${url}/readyz`);
    const { checks } = (await answer.json()) as { checks: Readonly<Record<string, string>> };
    if (checks.database !== undefined) expect(checks.database).toMatch(/clock is 300 s off/);
  });
}

/** The instants at which the posts became visible on the platforms, by the text of the post. */
async function seenAt(): Promise<ReadonlyMap<string, number>> {
  const visible = await system.simulator.visible();
  return new Map(visible.map(({ text, createdAt }) => [text, Date.parse(createdAt)]));
}

test("no post is published before its scheduled time while one process of each service has a clock that is five minutes ahead", async () => {
  const delays = [4_000, 5_000, 6_000, AHEAD_MS - 10_000];
  const posts = await Promise.all(
    accountIds.map((accountId, index) =>
      create(apis[index % 2] ?? system.api, {
        content: `skewed ${index}`,
        accountIds: [accountId],
        scheduledAt: inMs(delays[index % delays.length] ?? 0),
      }),
    ),
  );
  const isSoon = ({ scheduledAt }: (typeof posts)[number]): boolean =>
    Date.parse(scheduledAt ?? "") < Date.now() + 60_000;
  const soon = posts.filter(isSoon);
  const late = posts.filter((post) => !isSoon(post));
  expect([soon.length, late.length]).toEqual([9, 3]);

  await expectAll(system, { posts: soon }, "published", SETTLE_MS);
  const seen = await seenAt();
  const early = soon.filter(
    ({ content, scheduledAt }) => (seen.get(content) ?? 0) < Date.parse(scheduledAt ?? ""),
  );
  expect(early).toEqual([]);
  expect(late.filter(({ content }) => seen.has(content))).toEqual([]);
  for (const { id } of late) expect((await system.api.getPost(id)).status).toBe("scheduled");
});

test("with clocks of some processes five minutes ahead, every post is published once, even if a request or answer is lost and the call is repeated", async () => {
  const before = { platform: "bluesky", operation: "publish", mode: "drop_before", times: 2 };
  const after = { platform: "x", operation: "publish", mode: "drop_after_commit", times: 2 };
  for (const fault of [before, after]) await system.simulator.addFault(fault);
  const posts: PostRecord[] = await Promise.all(
    accountIds.map((accountId, index) =>
      (apis[index % 2] ?? system.api).createPost(`faulty ${index}`, [accountId]),
    ),
  );
  await expectAll(system, { posts }, "published", SETTLE_MS);
  const texts = (await system.simulator.visible()).map(({ text }) => text);
  expect(texts.filter((text) => text.startsWith("faulty ")).toSorted()).toEqual(
    posts.map(({ content }) => content).toSorted(),
  );
});

test("with clocks of some processes five minutes ahead, both gateways recognise an idempotency key and no access token is treated as expired", async () => {
  const [bluesky = ""] = accountIds;
  const headers = { "idempotency-key": crypto.randomUUID() };
  const body = { content: "once at both", accountIds: [bluesky] };
  const answers = [];
  for (const api of [...apis, ...apis])
    answers.push(await api.call<PostRecord>("POST", "/posts", { body, headers }));
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  await whenPost(system.api, answers[0]?.body.id ?? "", "published", SETTLE_MS);
  const { body: list } = await system.api.call<{ accounts: readonly { status: string }[] }>(
    "GET",
    "/accounts",
  );
  expect(new Set(list.accounts.map((account) => account.status))).toEqual(new Set(["active"]));
});
