import { expect, test } from "vitest";
import { ConfigError, loadConfig } from "./config.ts";

test("every fault of an environment is named at once", () => {
  const env = { PORT: "http", LEASE_SECONDS: "-1", BUS: "rabbit", POSTS_URL: "posts" };
  const load = () =>
    loadConfig(env, (read) => ({
      port: read.integer("PORT", { min: 1 }),
      leaseMs: read.seconds("LEASE_SECONDS", 60),
      bus: read.oneOf("BUS", ["postgres", "kafka"], "postgres"),
      postsUrl: read.url("POSTS_URL"),
      secret: read.string("INTERNAL_SECRET", { minLength: 32 }),
    }));
  let error: unknown;
  try {
    load();
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as ConfigError).faults.map((fault) => fault.split(" ")[0])).toEqual(
    ["PORT", "LEASE_SECONDS", "BUS", "POSTS_URL", "INTERNAL_SECRET", "INTERNAL_SECRET"].slice(0, 5),
  );
});

test("seconds become milliseconds, empty values count as absent", () => {
  const config = loadConfig({ A: "0.25", B: "1, 2.5", C: "" }, (read) => ({
    a: read.seconds("A", 1),
    b: read.secondsList("B", []),
    c: read.seconds("C", 7),
    d: read.boolean("D", true),
  }));
  expect(config).toEqual({ a: 250, b: [1000, 2500], c: 7000, d: true });
});
