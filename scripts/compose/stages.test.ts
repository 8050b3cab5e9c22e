import { expect, test } from "vitest";
import type { ComposeServices } from "./compose-file.ts";
import { awaitedOf, toStages } from "./stages.ts";

const SERVICES: ComposeServices = {
  simulator: { image: "simulator", network_mode: "service:gateway" },
  posts: {
    image: "posts",
    depends_on: { migrations: { condition: "service_completed_successfully" } },
  },
  migrations: { image: "posts", depends_on: { postgres: { condition: "service_healthy" } } },
  tool: {
    image: "cli",
    profiles: ["cli"],
    depends_on: { missing: { condition: "service_healthy" } },
  },
  postgres: { image: "postgres" },
  gateway: { image: "gateway" },
};

test("toStages starts each compose service after the services that it depends on or whose network it shares, and no service of a profile", () => {
  expect(toStages(SERVICES)).toEqual([
    ["postgres", "gateway"],
    ["simulator", "migrations"],
    ["posts"],
  ]);
});

test("toStages names compose services that depend on each other", () => {
  const needs = (name: string) => ({
    image: "x",
    depends_on: { [name]: { condition: "service_healthy" } },
  });
  expect(() => toStages({ a: needs("b"), b: needs("a") })).toThrow(
    "services need each other: a, b",
  );
});

test("awaitedOf returns whether other compose services wait for the end or the health of a service", () => {
  expect(awaitedOf("migrations", SERVICES)).toBe("service_completed_successfully");
  expect(awaitedOf("postgres", SERVICES)).toBe("service_healthy");
  expect(awaitedOf("posts", SERVICES)).toBeUndefined();
});
