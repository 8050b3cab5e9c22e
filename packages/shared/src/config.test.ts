import { expect, test } from "vitest";
import { ConfigError, describeSettings, loadConfig } from "./config.ts";

test("loading a configuration reports all faults of the environment together", () => {
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

test("seconds are converted to milliseconds, and empty values count as absent", () => {
  const config = loadConfig({ A: "0.25", B: "1, 2.5", C: "" }, (read) => ({
    a: read.seconds("A", 1),
    b: read.secondsList("B", []),
    c: read.seconds("C", 7),
    d: read.boolean("D", true),
  }));
  expect(config).toEqual({ a: 250, b: [1000, 2500], c: 7000, d: true });
});

test("every setting that is read is described, also those that do not apply", () => {
  const settings = describeSettings((read) => ({
    port: read.about("Where it listens.").integer("PORT", { default: 1, min: 0, max: 9 }),
    secrets: read.secret("What services show each other.").secrets("SECRETS", 32),
    isBucket: read.optionalString("BUCKET") !== undefined,
    region: read.when(false).about("Where it is.", "the store's own").string("REGION"),
    bucket: read.about("What it is called.").optionalString("BUCKET"),
  }));
  expect(settings).toEqual([
    {
      name: "PORT",
      type: "whole number, 0 to 9",
      default: "`1`",
      isSecret: false,
      about: "Where it listens.",
    },
    {
      name: "SECRETS",
      type: "list of texts, at least 32 characters each",
      default: "required",
      isSecret: true,
      about: "What services show each other.",
    },
    {
      name: "BUCKET",
      type: "text",
      default: "",
      isSecret: false,
      about: "What it is called.",
    },
    {
      name: "REGION",
      type: "text",
      default: "the store's own",
      isSecret: false,
      about: "Where it is.",
    },
  ]);
});

test("faults of settings that do not apply are not reported", () => {
  const load = (isUsed: boolean) =>
    loadConfig({}, (read) => ({
      region: read.when(isUsed).about("Where it is.").string("REGION"),
    }));
  expect(load(false)).toEqual({ region: "" });
  expect(() => load(true)).toThrow("REGION is required");
});

test("each secret of a list must have the minimum length", () => {
  const load = (value: string) =>
    loadConfig({ SECRETS: value }, (read) => ({ secrets: read.secrets("SECRETS", 4) })).secrets;
  expect(load("newer, older")).toEqual(["newer", "older"]);
  expect(() => load("newer,old")).toThrow("SECRETS needs at least 4 characters in each place");
  expect(() => load(",")).toThrow("SECRETS is required");
});
