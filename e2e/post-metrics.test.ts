import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { Answer } from "./support/requests/api.ts";
import { openKey, publishOn } from "./support/requests/engagement.ts";
import {
  create,
  HOUR_MS,
  inMs,
  refusalOf,
  whenTargets,
  UNKNOWN_ID,
} from "./support/requests/posts.ts";
import { disconnect, openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Tests the metrics of posts through all services. The tests of the connectors cover what each
 * platform counts, those of the delivery service the outcomes of refreshes and the schedule.
 */

type Metrics = Readonly<Record<string, number | string | null>>;

interface Refreshed {
  readonly post: {
    readonly id: string;
    readonly targets: readonly { readonly accountId: string; readonly metrics: Metrics | null }[];
  };
  readonly refresh: Readonly<Record<string, number>>;
}

const NONE = { eligible: 0, ready: 0, notFound: 0, error: 0, deferred: 0, stale: 0, failed: 0 };

const system = await useSharedSystem();
const tenant = await openTenant(system);

async function refresh(postId: string, { api } = tenant): Promise<Answer<Refreshed>> {
  return await api.call<Refreshed>("POST", `/posts/${postId}/metrics/refresh`);
}

test.each(["instagram", "facebook", "x", "youtube", "bluesky"])(
  "a metrics refresh returns a post's metrics on %s, later reads show them too, and a second refresh soon afterwards defers the target",
  async (platform) => {
    const media = await publishOn(tenant, platform);
    await system.simulator.setMetrics(media, { likes: 12 });

    const answer = await refresh(media.postId);

    expect([answer.status, answer.body.refresh]).toEqual([200, { ...NONE, eligible: 1, ready: 1 }]);
    const { body: post } = await tenant.api.call("GET", `/posts/${media.postId}`);
    const [target] = answer.body.post.targets;
    expect(Object.keys(target?.metrics ?? {}).toSorted()).toEqual(
      "comments impressions likes reach refreshedAt saves shares views".split(" "),
    );
    expect(target?.metrics).toMatchObject({ likes: 12, refreshedAt: expect.any(String) as string });
    expect(answer.body.post).toMatchObject({
      id: media.postId,
      content: (post as Metrics)["content"],
    });
    await eventually(async () => {
      const later = await tenant.api.call<Refreshed["post"]>("GET", `/posts/${media.postId}`);
      expect(later.body.targets[0]?.metrics).toEqual(target?.metrics);
    });

    const second = await refresh(media.postId);
    expect(second.body.refresh).toEqual({ ...NONE, eligible: 1, deferred: 1 });
    expect(second.body.post.targets[0]?.metrics).toEqual(target?.metrics);
  },
);

test("a metrics refresh counts each eligible target exactly once, and does not count targets on platforms without metrics", async () => {
  const platforms = ["bluesky", "x", "telegram", "bluesky"];
  const accounts = await Promise.all(platforms.map((platform) => tenant.connect(platform)));
  const [, failing = "", , gone = ""] = accounts;
  const { id } = await create(tenant.api, { content: "Counted", accountIds: accounts });
  await whenTargets(tenant.api, id, "published");
  await tenant.addFault(failing, { operation: "metrics", mode: "status", status: 500, times: 20 });
  await disconnect(system, gone);

  const { status, body } = await refresh(id);

  expect(status).toBe(200);
  const { eligible, ...others } = body.refresh;
  expect(eligible).toBe(3);
  expect(Object.values(others).reduce((sum, each) => sum + each, 0)).toBe(3);
  expect(body.refresh).toMatchObject({ ready: 1, failed: 1, error: 1 });
  const shown = new Map(body.post.targets.map((each) => [each.accountId, each.metrics !== null]));
  expect(accounts.map((account) => shown.get(account))).toEqual([true, false, false, false]);
});

test("a metrics refresh of a draft or of a scheduled post answers 200 with every count zero", async () => {
  const accountIds = [await tenant.connect("bluesky")];
  const draft = await create(tenant.api, { content: "Draft", accountIds, isDraft: true });
  const scheduledAt = inMs(48 * HOUR_MS);
  const scheduled = await create(tenant.api, { content: "Scheduled", accountIds, scheduledAt });
  for (const { id } of [draft, scheduled]) {
    const { status, body } = await refresh(id);
    expect([status, body.post.id, body.refresh]).toEqual([200, id, NONE]);
  }
});

test("the metrics of unknown posts and of posts of other workspaces are not found", async () => {
  const other = await openTenant(system);
  const media = await publishOn(tenant, "bluesky");
  const calls = () => system.simulator.countCalls("bluesky", "metrics", media.account);
  const before = await calls();

  expect(refusalOf(await refresh(media.postId, other))).toBe("404 not_found");
  expect(refusalOf(await refresh(UNKNOWN_ID))).toBe("404 not_found");
  expect(refusalOf(await refresh("nonsense"))).toBe("404 not_found malformed_id");
  expect(await calls()).toBe(before);
});

test("a metrics refresh needs only the scope posts:read", async () => {
  const media = await publishOn(tenant, "bluesky");
  const path = `/posts/${media.postId}/metrics/refresh`;
  const reader = await openKey(system, tenant.id, "posts:read");
  const writer = await openKey(system, tenant.id, "posts:write");

  expect(refusalOf(await writer.call("POST", path))).toBe("403 insufficient_scope posts:read");
  expect((await reader.call("POST", path)).status).toBe(200);
});
