import { expect, test } from "vitest";
import { Backlog } from "./backlogs.ts";

const LIMITS = { perWorkspace: 100, perHost: 60 };

/** Adds deliveries to a host, and returns how many were not refused. */
function addAll(backlog: Backlog, host: string, count: number): number {
  return Array.from({ length: count }, () => backlog.add(host)).filter((full) => full === undefined)
    .length;
}

test("a workspace's waiting webhook deliveries to one host leave room for those to other hosts", () => {
  const backlog = new Backlog(new Map([["a.example", 50]]), LIMITS, 0);
  expect(addAll(backlog, "a.example", 30)).toBe(10);
  expect(addAll(backlog, "b.example", 60)).toBe(40);
  expect(backlog.add("c.example")).toEqual({ limit: 100, actual: 101 });
});

test("a webhook delivery that is taken back leaves its place to another one", () => {
  const backlog = new Backlog(new Map([["a.example", 59]]), LIMITS, 0);
  expect(addAll(backlog, "a.example", 2)).toBe(1);
  backlog.remove("a.example");
  expect(addAll(backlog, "a.example", 2)).toBe(1);
});

test("the count of waiting webhook deliveries is trusted until an eighth of the free space is filled", () => {
  const backlog = new Backlog(new Map([["a.example", 20]]), LIMITS, 0);
  addAll(backlog, "a.example", 4);
  expect(backlog.isTrusted(1e9)).toBe(true);
  addAll(backlog, "a.example", 1);
  expect(backlog.isTrusted(0)).toBe(false);
});

test("after a refusal, the waiting webhook deliveries are counted again after 5 s and not before", () => {
  const backlog = new Backlog(new Map([["a.example", 60]]), LIMITS, 1_000);
  expect(addAll(backlog, "a.example", 1)).toBe(0);
  expect(backlog.isTrusted(5_999)).toBe(true);
  expect(backlog.isTrusted(6_000)).toBe(false);
});
