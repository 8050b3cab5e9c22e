import { expect, test } from "vitest";
import type { TargetHistory } from "./metrics-api.ts";
import { seriesOf, valueOf } from "./readings.ts";

const none = {
  views: null,
  impressions: null,
  reach: null,
  likes: null,
  comments: null,
  shares: null,
  saves: null,
};

function targetOf(targetId: string, points: TargetHistory["points"]): TargetHistory {
  return { targetId, accountId: "a", platform: "x", points, nextReadAt: null };
}

test("how often a post was seen is its views, else impressions, else reach", () => {
  expect(valueOf({ ...none, impressions: 5, reach: 3 }, "seen")).toBe(5);
  expect(valueOf({ ...none, reach: 3 }, "seen")).toBe(3);
  expect(valueOf({ ...none, likes: 0 }, "likes")).toBe(0);
  expect(valueOf(none, "seen")).toBeNull();
});

test("a line has the readings of its window only, and none where the platform gave nothing", () => {
  const sent = Date.parse("2026-11-23T03:00:00Z");
  const at = (hours: number) => new Date(sent + hours * 3_600_000).toISOString();
  const target = targetOf("t1", [
    { ...none, at: at(1), views: 10 },
    { ...none, at: at(2) },
    { ...none, at: at(48), views: 30 },
    { ...none, at: at(60), views: 40 },
  ]);
  const options = { sentMs: sent, measure: "seen", hours: 48 } as const;
  const [line, ...others] = seriesOf([targetOf("t2", []), target], options, () => "X");
  expect(line?.points).toEqual([
    { x: 1, y: 10 },
    { x: 48, y: 30 },
  ]);
  expect(line?.label).toBe("X 30");
  expect(others).toEqual([]);
});
