import type { PostSummary } from "@postrider/client";
import { beforeAll, expect, test } from "vitest";
import { loadTemporal } from "../../time/load-temporal.ts";
import { groupByDay } from "./group-by-day.ts";

beforeAll(loadTemporal);

const posts = (...times: string[]) =>
  times.map((scheduledAt) => ({ id: scheduledAt, scheduledAt }) as PostSummary);
const group = (zone: string, ...times: string[]) =>
  groupByDay(posts(...times), zone, Temporal.Instant.from("2026-11-24T05:05:00Z")).map(
    ({ day, lines }) => [day, lines.map((line) => (line === "now" ? line : line.id))],
  );

test("posts stand under the day of the reader's zone, not of UTC", () => {
  const late = "2026-11-24T16:00:00.000Z";
  expect(group("Asia/Seoul", late)[0]?.[0]).toBe("2026-11-25");
  expect(group("UTC", late)[0]?.[0]).toBe("2026-11-24");
});

test("the present stands between what is due and what was due today", () => {
  const [later, earlier] = ["2026-11-24T09:00:00.000Z", "2026-11-24T03:00:00.000Z"];
  expect(group("Asia/Seoul", later, earlier)).toEqual([["2026-11-24", [later, "now", earlier]]]);
  expect(group("Asia/Seoul", later)).toEqual([["2026-11-24", [later, "now"]]]);
});

test("on other days there is no present", () => {
  const past = "2026-11-20T03:00:00.000Z";
  expect(group("Asia/Seoul", past)).toEqual([["2026-11-20", [past]]]);
});
