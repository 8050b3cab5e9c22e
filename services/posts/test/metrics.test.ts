import { create, toJsonString, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  TargetMetricsRefreshedSchema,
  type TargetMetricsRefreshed,
} from "@postrider/contracts/engagement/v1/engagement_events_pb";
import type { TargetMetricsSchema } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import { newId } from "@postrider/shared/ids";
import { expect, test } from "vitest";
import { applyTargetMetrics } from "#src/operations/apply-target-metrics.ts";
import { startPostsForFile } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";
import { publishPost } from "./workspace.ts";

const posts = await startPostsForFile();

const publish = (targetCount: number) => publishPost(posts, targetCount);
const reread = (post: ShownPost) => posts.getPost(post.workspaceId, post.id);
const apply = (...updates: TargetMetricsRefreshed[]) =>
  posts.sql.begin((tx) => applyTargetMetrics(tx, updates));

/** Builds a report of metrics that were read on the platform at the given minute. */
function report(
  post: ShownPost,
  ordinal: number,
  minute: number,
  counters: MessageInitShape<typeof TargetMetricsSchema>,
): TargetMetricsRefreshed {
  return create(TargetMetricsRefreshedSchema, {
    workspaceId: post.workspaceId,
    postId: post.id,
    targetId: post.targets[ordinal]?.id ?? "",
    metrics: {
      ...counters,
      refreshedAt: timestampFromDate(new Date(Date.UTC(2026, 0, 1, 0, minute))),
    },
  });
}

const viewsOf = async (post: ShownPost) =>
  (await reread(post)).targets.map(({ metrics }) => metrics?.views);

test("a post shows the metrics that were reported for its targets, and only those that the platform gives", async () => {
  const post = await publish(2);
  expect(await viewsOf(post)).toEqual([undefined, undefined]);

  const update = report(post, 1, 1, { views: 12n, likes: 0n });
  await apply(update);

  const [first, second] = (await reread(post)).targets;
  expect(first?.metrics).toBeNull();
  expect(second?.metrics).toEqual({
    views: 12,
    impressions: null,
    reach: null,
    likes: 0,
    comments: null,
    shares: null,
    saves: null,
    refreshedAt: "2026-01-01T00:01:00.000Z",
  });
});

test("metrics that a refresh by hand returned are in the post at once, and the event about them changes nothing more", async () => {
  const [post, other] = [await publish(2), await publish(1)];
  const { workspaceId, id: postId } = post;
  const update = report(post, 1, 1, { views: 12n });
  const { targetId, metrics } = update;
  const foreign = { targetId: other.targets[0]?.id ?? "", metrics };
  const targets = [{ targetId, ...(metrics === undefined ? {} : { metrics }) }, foreign];
  const recorded = await posts.posts.recordTargetMetrics({ workspaceId, postId, targets });
  expect(await viewsOf(post)).toEqual([undefined, 12]);
  expect(recorded.post).toEqual(await reread(post));
  await apply(update);
  expect(recorded.post).toEqual(await reread(post));
  expect(await viewsOf(other)).toEqual([undefined]);
  await expect(
    posts.posts.recordTargetMetrics({ workspaceId: other.workspaceId, postId, targets }),
  ).rejects.toMatchObject({ reason: "not_found" });
  expect(await viewsOf(other)).toEqual([undefined]);
});

test("a post shows metrics that arrive on the topic `engagement.events.v1`", async () => {
  const post = await publish(1);
  const update = report(post, 0, 1, { views: 7n });
  const headers = { ce_id: newId(), ce_type: update.$typeName, ce_time: new Date().toISOString() };
  const value = toJsonString(TargetMetricsRefreshedSchema, update);

  await posts.consume([{ key: post.id, value, headers }], "engagement.events.v1");

  expect(await viewsOf(post)).toEqual([7]);
});

test("a target keeps its newest metrics, in whatever order and however often metrics are reported", async () => {
  const post = await publish(1);
  const [older, newer] = [report(post, 0, 1, { views: 1n }), report(post, 0, 2, { views: 2n })];
  await apply(newer, older);
  expect(await viewsOf(post)).toEqual([2]);
  await apply(older);
  await apply(newer);
  expect(await viewsOf(post)).toEqual([2]);
  await apply(report(post, 0, 3, { likes: 1n }));
  expect(await viewsOf(post)).toEqual([null]);
});

test("new metrics raise the version of the post once and append no event, and metrics that are reported again change nothing", async () => {
  const post = await publish(2);
  const before = await reread(post);
  const events = (await posts.events()).length;
  await apply(report(post, 0, 1, { views: 1n }), report(post, 1, 1, { views: 1n }));
  const after = await reread(post);
  expect(after.version).toBe(before.version + 1n);
  expect(after.status).toBe(before.status);

  await apply(report(post, 0, 1, { views: 1n }));
  expect(await reread(post)).toEqual(after);
  expect((await posts.events()).length).toBe(events);
});

test("reported metrics change nothing unless their workspace, post and target belong together", async () => {
  const [post, other] = [await publish(1), await publish(1)];
  const own = report(post, 0, 1, { views: 1n });
  await apply({ ...own, workspaceId: other.workspaceId });
  await apply({ ...own, postId: other.id });
  await apply({ ...own, targetId: newId() });
  expect(await viewsOf(post)).toEqual([undefined]);
  expect(await viewsOf(other)).toEqual([undefined]);
});
