import { expect, test } from "vitest";
import { ConfigError, describeSettings, loadConfig } from "./config.ts";

test("loadConfig reports every invalid environment variable in one error", () => {
  const env = { PORT: "http", LEASE_SECONDS: "-1", BUS: "rabbit", POSTS_URL: "posts" };
  const load = () =>
    loadConfig(env, (read) => ({
      port: read.integer("PORT", { min: 1 }),
      leaseMs: read.seconds("LEASE_SECONDS", 60),
      bus: read.oneOf("BUS", ["postgres", "kafka"], "postgres"),
      postsUrl: read.url("POSTS_URL"),
      secret: read.string("MEDIA_KEY", { minLength: 32 }),
    }));
  let error: unknown;
  try {
    load();
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as ConfigError).faults.map((fault) => fault.split(" ")[0])).toEqual(
    ["PORT", "LEASE_SECONDS", "BUS", "POSTS_URL", "MEDIA_KEY", "MEDIA_KEY"].slice(0, 5),
  );
});

test("EnvReader converts seconds to milliseconds and treats empty values as absent", () => {
  const config = loadConfig({ A: "0.25", B: "1, 2.5", C: "" }, (read) => ({
    a: read.seconds("A", 1),
    b: read.secondsList("B", []),
    c: read.seconds("C", 7),
    d: read.boolean("D", true),
  }));
  expect(config).toEqual({ a: 250, b: [1000, 2500], c: 7000, d: true });
});

test("describeSettings lists every setting with its description, including settings that are not in use", () => {
  const settings = describeSettings((read) => ({
    port: read
      .about("Port that the process listens on.")
      .integer("PORT", { default: 1, min: 0, max: 9 }),
    secrets: read.secret("Authenticates services.", { level: "needed" }).secrets("SECRETS", 32),
    isBucket: read.optionalString("BUCKET") !== undefined,
    region: read
      .when(false)
      .about("Region of the store.", { default: "of the store", level: "advanced" })
      .string("REGION"),
    bucket: read.about("Name of the bucket.").optionalString("BUCKET"),
  }));
  expect(settings).toEqual([
    {
      name: "PORT",
      type: "whole number, 0 to 9",
      default: "`1`",
      isSecret: false,
      about: "Port that the process listens on.",
      level: "usual",
    },
    {
      name: "SECRETS",
      type: "list of texts, at least 32 characters each",
      default: "required",
      isSecret: true,
      about: "Authenticates services.",
      level: "needed",
    },
    {
      name: "BUCKET",
      type: "text",
      default: "",
      isSecret: false,
      about: "Name of the bucket.",
      level: "usual",
    },
    {
      name: "REGION",
      type: "text",
      default: "of the store",
      isSecret: false,
      about: "Region of the store.",
      level: "advanced",
    },
  ]);
});

test("a required setting may be missing while the setting is not in use", () => {
  const load = (isUsed: boolean) =>
    loadConfig({}, (read) => ({
      region: read.when(isUsed).about("Region of the store.").string("REGION"),
    }));
  expect(load(false)).toEqual({ region: "" });
  expect(() => load(true)).toThrow("REGION is required");
});

test("every secret in a setting that lists secrets must have the minimum length", () => {
  const load = (value: string) =>
    loadConfig({ SECRETS: value }, (read) => ({ secrets: read.secrets("SECRETS", 4) })).secrets;
  expect(load("newer, older")).toEqual(["newer", "older"]);
  expect(() => load("newer,old")).toThrow("SECRETS needs at least 4 characters in each place");
  expect(() => load(",")).toThrow("SECRETS is required");
});
