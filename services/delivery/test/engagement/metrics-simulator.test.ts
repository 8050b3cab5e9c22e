import { create, toJsonString } from "@bufbuild/protobuf";
import { TargetUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { createBlueskyMetricsConnector } from "@postrider/platforms/bluesky/metrics/connector";
import { createBlueskyPublishingConnector } from "@postrider/platforms/bluesky/publishing/connector";
import { startTestPlatform } from "@postrider/platforms/test/test-platform";
import { createBatchHandler } from "@postrider/shared/bus/consumer";
import { newId } from "@postrider/shared/ids";
import { expect, test } from "vitest";
import { createEngagementHandlers } from "#src/engagement/consumers/index.ts";
import { addTargetOf } from "../publishing/add-target-of.ts";
import {
  logger,
  readTask,
  request,
  startWorker,
  untilStatus,
  type TestTarget,
} from "../publishing/fixture.ts";
import { MetricsStage } from "./metrics-fixture.ts";

const platform = await startTestPlatform("bluesky");
const settings = { baseUrl: platform.url, videoBaseUrl: platform.url };
const bluesky = createBlueskyPublishingConnector(settings);
const connector = createBlueskyMetricsConnector(settings);

/**
 * Publishes a post on the simulated Bluesky, and passes its event to the metrics part of the
 * delivery service.
 */
async function publish(stage: MetricsStage): Promise<TestTarget> {
  const publication = await platform.createPublication([], "counted");
  const target = addTargetOf(stage.world, publication, { platform: "bluesky", media: [] });
  await using _worker = startWorker(stage.database, stage.world, { connectors: { bluesky } });
  await request(stage.sql, target);
  await untilStatus(stage.sql, target, "published");
  const { workspaceId, postId, targetId } = target;
  const message = create(TargetUpdatedSchema, {
    workspaceId,
    postId,
    targetId,
    status: "published",
  });
  const topic = "delivery.events.v1";
  const handlers = createEngagementHandlers(["bluesky"])[topic] ?? [];
  const handle = createBatchHandler({ topic, handlers, logger });
  await stage.sql.begin((tx) =>
    handle(tx, [
      {
        key: postId,
        headers: { ce_id: newId(), ce_type: TargetUpdatedSchema.typeName },
        value: toJsonString(TargetUpdatedSchema, message),
      },
    ]),
  );
  return target;
}

async function setLikes(stage: MetricsStage, target: TestTarget, likes: number): Promise<void> {
  const account = stage.world.account(target).externalId;
  const { externalId: id } = await readTask(stage.sql, target);
  await platform.control("POST", "metrics", { platform: "bluesky", account, id, likes });
}

test("metrics of a post on the simulated Bluesky are refreshed by schedule and by hand, each time with a row of history", async () => {
  await using stage = await MetricsStage.open({ connector });
  const target = await publish(stage);
  await setLikes(stage, target, 3);
  expect((await stage.readRow(target))?.dueInMinutes).toBe(60);
  await stage.sql`update target_metrics set due_at = now()`;
  await stage.sql`update metrics_accounts set due_at = now()`;
  const refresher = stage.refresher();
  await refresher.pass();
  await refresher.end();
  await setLikes(stage, target, 5);
  const response = await stage.serve().refresh([target]);

  expect(response).toMatchObject({ eligible: 1, ready: 1 });
  expect(response.targets[0]?.metrics).toMatchObject({ likes: 5n, comments: 0n });
  expect(response.targets[0]?.metrics?.views).toBeUndefined();
  const likes = await stage.sql<{ likes: number }[]>`
    select likes::int
    from target_metric_history
    order by refreshed_at`;
  expect(likes.map((row) => row.likes)).toEqual([3, 5]);
  expect(await stage.announced()).toEqual([target.targetId, target.targetId]);
});

test.each([
  ["answers 429", { mode: "status", status: 429 }, { deferred: 1 }],
  ["answers 400", { mode: "status", status: 400 }, { error: 1 }],
  ["answers 500", { mode: "status", status: 500 }, { failed: 1 }],
  ["breaks the connection", { mode: "drop_before" }, { failed: 1 }],
])(
  "a refresh of metrics by hand while the simulated Bluesky %s is counted as unsuccessful, and the next one succeeds",
  async (_name, fault, counts) => {
    await using stage = await MetricsStage.open({ connector });
    const target = await publish(stage);
    const { mode, ...extra } = fault;
    await platform.addFault("metrics", mode, { times: 1, ...extra });
    const serving = stage.serve();
    expect(await serving.refresh([target])).toMatchObject({ eligible: 1, ready: 0, ...counts });
    await stage.sql`update metrics_accounts set limited_until = '-infinity'`;
    await stage.sql`update app_budgets set limited_until = '-infinity'`;
    expect(await serving.refresh([target])).toMatchObject({ eligible: 1, ready: 1 });
  },
);

test("a refresh of metrics by hand of a post that was deleted on the simulated Bluesky is counted as notFound", async () => {
  await using stage = await MetricsStage.open({ connector });
  const target = await publish(stage);
  const { externalId } = await readTask(stage.sql, target);
  const { externalId: did, token, username } = stage.world.account(target);
  const account = { externalId: did, username, accessToken: token, attributes: {} };
  await bluesky.delete(account, externalId ?? "", new AbortController().signal);
  expect(await stage.serve().refresh([target])).toMatchObject({ eligible: 1, notFound: 1 });
});
