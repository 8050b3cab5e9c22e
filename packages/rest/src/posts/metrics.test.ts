import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  RefreshedTargetSchema,
  TargetMetricsSchema,
} from "@postrider/contracts/engagement/v1/metrics_service_pb";
import { expect, test } from "vitest";
import { toMetrics } from "#src/posts/mapping.ts";
import { withMetrics } from "#src/posts/metrics.ts";

const OLDER = "2026-11-23T09:00:00.000Z";
const NEWER = "2026-11-23T10:00:00.000Z";

const message = (views: number, refreshedAt: string) =>
  create(TargetMetricsSchema, {
    views: BigInt(views),
    likes: 0n,
    refreshedAt: timestampFromDate(new Date(refreshedAt)),
  });

const metrics = (views: number, refreshedAt: string) => ({
  views,
  impressions: null,
  reach: null,
  likes: 0,
  comments: null,
  shares: null,
  saves: null,
  refreshedAt,
});

const refreshed = (targetId: string, views: number, refreshedAt: string) =>
  create(RefreshedTargetSchema, { targetId, metrics: message(views, refreshedAt) });

test("the API returns null for each metric that the platform does not provide, and 0 for 0", () => {
  expect(toMetrics(message(7, OLDER))).toEqual(metrics(7, OLDER));
  expect(toMetrics(undefined)).toBeNull();
});

test("withMetrics replaces the metrics of exactly the targets that have newer stored metrics", () => {
  const post = {
    id: "post",
    targets: [
      { id: "a", metrics: null },
      { id: "b", metrics: metrics(1, OLDER) },
      { id: "c", metrics: metrics(9, NEWER) },
      { id: "d", metrics: metrics(4, OLDER) },
    ],
  };
  const answer = [refreshed("a", 5, OLDER), refreshed("b", 6, NEWER), refreshed("c", 2, OLDER)];

  expect(withMetrics(post, answer)).toEqual({
    id: "post",
    targets: [
      { id: "a", metrics: metrics(5, OLDER) },
      { id: "b", metrics: metrics(6, NEWER) },
      { id: "c", metrics: metrics(9, NEWER) },
      { id: "d", metrics: metrics(4, OLDER) },
    ],
  });
});
