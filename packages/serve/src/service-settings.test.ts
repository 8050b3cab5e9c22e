import { layoutOf } from "@postrider/local/stack/layout";
import { makeSecrets } from "@postrider/local/stack/secrets";
import { serviceNames } from "@postrider/local/stack/services";
import { EnvReader } from "@postrider/shared/config";
import { expect, test } from "vitest";
import { type Environment, readServeSettings } from "#src/config.ts";
import { inspectSettings } from "#src/inspect-settings.ts";
import {
  inspectorSettings,
  portsFrom,
  serviceSettings,
  type ServePlan,
} from "#src/service-settings.ts";

const OWNER = "postgres://owner:Zq8vT2nLw5xR@127.0.0.1/postrider";

const NEEDED = { DATABASE_URL: OWNER, PUBLIC_URL: "https://p.test" };

function planOf(extra: Environment): ServePlan {
  const settings = { ...NEEDED, ...extra };
  const { known } = inspectSettings({ env: settings, inFile: [] });
  const serve = readServeSettings(new EnvReader(settings));
  const layout = layoutOf(serve.dataDir);
  return { serve, settings, layout, secrets: makeSecrets(), ports: portsFrom(serve.port), known };
}

test("two settings are enough for the services in production", () => {
  expect(inspectSettings({ env: NEEDED, inFile: Object.keys(NEEDED) }).faults).toEqual([]);
});

test.each(["IDENTITY_KEYS", "TRUSTED_IDENTITIES"])(
  "serve refuses %s, which it would ignore, and names the file that has the identities",
  (name) => {
    const env = { ...NEEDED, [name]: "x", POSTRIDER_DATA_DIR: "/data" };
    const { faults } = inspectSettings({ env, inFile: [] });
    expect(faults).toEqual([
      expect.stringMatching(`^${name} cannot be set .* in /data/secrets.json: remove the setting`),
    ]);
  },
);

test("each service of one server has the port that it has by default, and all follow from PORT", () => {
  const { services, inspector } = portsFrom(8080);
  const ports = serviceNames.map((name) => services[name].port);
  expect([...ports, inspector]).toEqual([8080, 8081, 8082, 8083, 8084, 8085]);
  expect(services.delivery.metricsPort).toBe(9084);
  expect(serviceSettings("delivery", planOf({ PORT: "9000" }))).toMatchObject({
    PORT: "9004",
    METRICS_PORT: "10004",
    POSTS_URL: "http://127.0.0.1:9002",
  });
});

test("the secret of an app reaches only accounts, the owner's password reaches no service, and the inspector is given no secret", () => {
  const plan = planOf({ X_CLIENT_SECRET: "of-the-app", PGPASSWORD: "of-the-owner" });
  for (const service of serviceNames) {
    const given = JSON.stringify(serviceSettings(service, plan));
    expect(given.includes("of-the-app")).toBe(service === "accounts");
    for (const secret of ["Zq8vT2nLw5xR", "of-the-owner"]) expect(given).not.toContain(secret);
  }
  expect(inspectorSettings(plan)).toEqual({ HOST: "127.0.0.1", PORT: "8085" });
});

test("the options of the resolver, which the image sets, reach every service", () => {
  const plan = planOf({ RES_OPTIONS: "timeout:1 attempts:4" });
  const given = serviceNames.map((service) => serviceSettings(service, plan)["RES_OPTIONS"]);
  expect(given).toEqual(serviceNames.map(() => "timeout:1 attempts:4"));
});

test("only the gateway of one server listens on other addresses, and the bus is always Postgres", () => {
  const plan = planOf({ HOST: "0.0.0.0", BUS: "kafka", KAFKA_BROKERS: "127.0.0.1:9092" });
  const hosts = serviceNames.map((service) => serviceSettings(service, plan)["HOST"]);
  expect(hosts).toEqual(["0.0.0.0", ...Array.from({ length: 4 }, () => "127.0.0.1")]);
  expect(serviceSettings("posts", plan)["BUS"]).toBe("postgres");
});

test("a key in the settings replaces the made one, such as while keys are changed", () => {
  const keys = `k2:${Buffer.alloc(32, 7).toString("base64")}`;
  expect(serviceSettings("accounts", planOf({ CREDENTIAL_KEYS: keys }))).toMatchObject({
    CREDENTIAL_KEYS: keys,
  });
});
