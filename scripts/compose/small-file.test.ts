import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { inspectSettings } from "../../packages/serve/src/inspect-settings.ts";
import { root } from "../check/run-command.ts";
import { GRACE_MS } from "../manifests/check-pods.ts";
import { readCompose } from "./compose-file.ts";

const FILE = "compose.small.yaml";
const GIVEN = { DOMAIN: "post.test", EMAIL: "me@post.test", DATABASE_PASSWORD: "Zq8vT2nLw5xRk3" };

const read = () => readCompose([FILE], GIVEN);

function readNetworks(): Readonly<Record<string, unknown>> {
  const { networks } = parse(readFileSync(join(root, FILE), "utf8"), { merge: true }) as {
    readonly networks: Readonly<Record<string, unknown>>;
  };
  return networks;
}

function networksOf(name: string): readonly string[] {
  return read()[name]?.networks ?? ["default"];
}

test("compose.small.yaml starts one container of Postrider, the inspector, Postgres and Caddy, and needs three settings", () => {
  expect(Object.keys(read())).toEqual(["postrider", "inspector", "postgres", "caddy"]);
  for (const name of Object.keys(GIVEN))
    expect(() => readCompose([FILE], { ...GIVEN, [name]: "" })).toThrow(`${name} is required`);
});

test("the settings that compose.small.yaml gives to Postrider are complete, and its code reads each of them", () => {
  const { environment = {} } = read()["postrider"] ?? {};
  const inspection = inspectSettings({ env: environment, inFile: Object.keys(environment) });
  expect(inspection.faults).toEqual([]);
});

test("deploy/compose/small.env names settings of compose.small.yaml and of Postrider only", () => {
  const text = readFileSync(join(root, "deploy/compose/small.env"), "utf8");
  const all = Object.keys(parseEnv(text.replaceAll(/^#(?=[A-Z_]+=)/gm, "")));
  const ofCompose = new Set(["COMPOSE_FILE", "DOMAIN", "EMAIL"]);
  const others = all.filter((name) => !ofCompose.has(name));
  expect(others).toHaveLength(11);
  const { environment = {} } = read()["postrider"] ?? {};
  expect(inspectSettings({ env: environment, inFile: others }).faults).toEqual([]);
});

test("clients of compose.small.yaml keep their addresses over IPv6 too, and the gateway trusts Caddy to name them", () => {
  const subnet = /^\$\{IPV6_SUBNET:-fd[0-9a-f]{2}(:[0-9a-f]{4}){3}::\/64\}$/;
  expect(readNetworks()["default"]).toEqual({
    enable_ipv6: true,
    ipam: { config: [{ subnet: expect.stringMatching(subnet) }] },
  });
  expect(read()["postrider"]?.environment).toMatchObject({ TRUSTED_PROXIES: "uniquelocal" });
});

test("only Caddy publishes ports, Postgres and the inspector are on internal networks alone, and the inspector is given no setting", () => {
  const services = read();
  expect(readNetworks()).toEqual({
    default: expect.anything(),
    data: { internal: true },
    inspection: { internal: true },
  });
  expect(networksOf("postgres")).toEqual(["data"]);
  expect(networksOf("inspector")).toEqual(["inspection"]);
  expect(networksOf("caddy")).toEqual(["default"]);
  const publishing = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
  expect(publishing.map(([name]) => name)).toEqual(["caddy"]);
  expect(services["inspector"]).not.toHaveProperty("environment");
  expect(services["inspector"]).not.toHaveProperty("env_file");
});

test("compose.yaml does not take over the containers and volumes of compose.small.yaml on the same machine", () => {
  const [small, large] = [FILE, "compose.yaml"].map((file) =>
    /^name: (.+)$/m.exec(readFileSync(join(root, file), "utf8"))?.at(1),
  );
  expect(small).toBe("postrider");
  expect(large).not.toBe(small);
});

test("no container of compose.small.yaml fills the disk with its log or takes all memory", () => {
  for (const { logging, mem_limit: limit } of Object.values(read())) {
    expect(logging?.options).toEqual({ "max-size": "20m", "max-file": "5" });
    expect(limit).toMatch(/^\d+m$/);
  }
});

test("every container of compose.small.yaml but Postgres has restricted rights", () => {
  const { postgres: _, ...others } = read();
  for (const service of Object.values(others))
    expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
});

test("no service of compose.small.yaml waits for the health of another one, which podman 4 cannot do", () => {
  for (const service of Object.values(read())) expect(service).not.toHaveProperty("depends_on");
});

test("the stop grace period of compose.small.yaml covers the time that every service needs to stop", () => {
  const seconds = Number.parseInt(read()["postrider"]?.stop_grace_period ?? "", 10);
  expect(seconds * 1_000).toBeGreaterThan(Math.max(...GRACE_MS.values()) + 5_000);
});
