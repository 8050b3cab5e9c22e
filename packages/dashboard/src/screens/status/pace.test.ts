import { beforeAll, expect, test } from "vitest";
import { loadTemporal } from "../../time/load-temporal.ts";
import { paceOf } from "./pace.ts";

beforeAll(loadTemporal);

const at = (text: string) => Temporal.Instant.from(text);

test("the use of a month goes on as it went so far", () => {
  expect(paceOf(371, "2026-11", at("2026-11-24T23:00:00Z"))).toBe(465);
});

test("the first days of a month tell nothing, and neither does another month, or one in which nothing was used", () => {
  expect(paceOf(0, "2026-11", at("2026-11-24T23:00:00Z"))).toBeUndefined();
  expect(paceOf(50, "2026-11", at("2026-11-02T23:00:00Z"))).toBeUndefined();
  expect(paceOf(50, "2026-11", at("2026-12-05T00:00:00Z"))).toBeUndefined();
});
