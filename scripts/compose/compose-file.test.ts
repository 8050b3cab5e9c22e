import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { EnvReader } from "../../packages/shared/src/config.ts";
import { loadConfig as loadSimulatorConfig } from "../../packages/simulator/src/config.ts";
import { root } from "../check/run-command.ts";
import { GRACE_MS } from "../manifests/check-pods.ts";
import { READERS, SERVICES, type ServiceName } from "../services/settings.ts";
import { type ComposeServices, readCompose, readEnvFile, type Variables } from "./compose-file.ts";

const WITH_SCHEMA = SERVICES.filter((name) => name !== "gateway");
const REAL = ["compose.yaml"];
const SIMULATED = ["compose.yaml", "deploy/compose/simulator.yaml"];

let folder: string;
let env: Variables;

function writeEnv(file: string): void {
  const script = join(root, "scripts/compose-env.mjs");
  execFileSync(process.execPath, [script, file], { stdio: "pipe" });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-compose-"));
  writeEnv(join(folder, ".env"));
  env = readEnvFile(join(folder, ".env"));
});

afterAll(() => rmSync(folder, { recursive: true }));

function get(services: ComposeServices, name: string) {
  const service = services[name];
  if (service === undefined) throw new Error(`there is no service ${name}`);
  return service;
}

/** Lets the code of a service read the environment that compose gives to the service. */
function readAs(name: ServiceName, environment: Variables) {
  const read = new EnvReader(environment);
  READERS[name](read);
  const known = new Set(read.settings.map((setting) => setting.name));
  return {
    faults: read.faults,
    unknown: Object.keys(environment).filter((variable) => !known.has(variable)),
    secrets: read.settings.filter(({ isSecret }) => isSecret).map((setting) => setting.name),
  };
}

describe.each([
  ["for the real platforms", REAL],
  ["for the simulated platforms", SIMULATED],
])("compose.yaml %s", (_title, files) => {
  const read = () => readCompose(files, env);

  test.each(SERVICES)(
    "the compose service %s has every setting that its code requires, and only settings that its code reads",
    (name) => {
      const { faults, unknown } = readAs(name, get(read(), name).environment ?? {});
      expect({ faults, unknown }).toEqual({ faults: [], unknown: [] });
    },
  );

  test("every address in the settings of compose.yaml names a compose service and a port on which the service listens", () => {
    const services = read();
    const ports = new Map([
      ["postgres", "5432"],
      ["kafka", "9092"],
      ["s3", "7070"],
      ["inspector", "8085"],
    ]);
    for (const [name, { environment, network_mode: network }] of Object.entries(services)) {
      if (environment?.PORT !== undefined) ports.set(name, environment.PORT);
      // A service that shares the network of another service is reached by the name of that other
      // service.
      if (network !== undefined)
        ports.set(`${network.replace("service:", "")}:${name}`, environment?.PORT ?? "");
    }
    const listening = new Set([...ports].map(([name, port]) => `${name.split(":")[0]}:${port}`));
    const published = Object.values(services)
      .flatMap((service) => service.ports ?? [])
      .map((port) => port.split(":").slice(0, 2).join(":"));
    const addresses = Object.values(services).flatMap(({ environment = {} }) =>
      Object.entries(environment)
        .filter(([name]) => /(_URL|_ENDPOINT|BROKERS)$/.test(name))
        .map(([, value]) => (value.includes("//") ? new URL(value).host : value)),
    );
    expect(addresses.length).toBeGreaterThan(10);
    for (const address of new Set(addresses))
      expect([...listening, ...published]).toContain(address);
  });

  test("compose.yaml publishes every port on the loopback address only", () => {
    const ports = Object.values(read()).flatMap((service) => service.ports ?? []);
    expect(ports.length).toBeGreaterThan(0);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  test("every container image in compose.yaml is ours, or has an exact version and a digest", () => {
    for (const { image } of Object.values(read()))
      expect(image).toMatch(
        /^(postrider\/[a-z]+:dev|[a-z/]+:v?\d+\.\d+(\.\d+)?(-[a-z]+)?@sha256:[0-9a-f]{64})$/,
      );
  });

  test("no container in compose.yaml fills the disk with its log, and each has a limit of memory, which the heap of Kafka fits", () => {
    for (const { logging, mem_limit: limit } of Object.values(read())) {
      expect(logging?.options).toEqual({ "max-size": "20m", "max-file": "5" });
      expect(limit).toMatch(/^(512m|1g)$/);
    }
    expect(get(read(), "kafka").environment).toMatchObject({
      KAFKA_HEAP_OPTS: "-Xms256m -Xmx512m",
    });
  });

  test("compose.yaml declares each network that it uses, because podman-compose creates no other", () => {
    const { networks } = parse(readFileSync(join(root, "compose.yaml"), "utf8"), {
      merge: true,
    }) as { readonly networks: Readonly<Record<string, unknown>> };
    expect(Object.keys(networks)).toEqual(["default", "data", "inspection"]);
  });

  test("every Postrider container in compose.yaml has restricted rights", () => {
    const ours = Object.entries(read()).filter(([, { image }]) => image.startsWith("postrider/"));
    expect(ours.length).toBeGreaterThan(10);
    for (const [, service] of ours) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
      expect(service.security_opt).toEqual(["no-new-privileges:true"]);
    }
  });

  test("the inspector in compose.yaml has no environment variables, and its only network is internal and shared with the media service alone", () => {
    const services = read();
    const { environment, networks } = get(services, "inspector");
    const members = Object.entries(services).filter(([, one]) =>
      one.networks?.includes("inspection"),
    );
    const declared = parse(readFileSync(join(root, "compose.yaml"), "utf8"), { merge: true }) as {
      readonly networks: unknown;
    };

    expect({ environment, networks }).toEqual({
      environment: undefined,
      networks: ["inspection"],
    });
    expect(members.map(([name]) => name)).toEqual(["media", "inspector"]);
    expect(declared.networks).toMatchObject({ inspection: { internal: true } });
  });

  test("Postgres and Kafka in compose.yaml are only on an internal network, and neither the gateway nor the inspector nor the object store is on it", () => {
    const services = read();
    const { networks } = parse(readFileSync(join(root, "compose.yaml"), "utf8"), {
      merge: true,
    }) as { readonly networks: Readonly<Record<string, unknown>> };
    expect(networks["data"]).toEqual({ internal: true });
    for (const name of ["postgres", "kafka"])
      expect(get(services, name).networks).toEqual(["data"]);
    const members = Object.entries(services).filter(([, one]) => one.networks?.includes("data"));
    const known = ["accounts", "posts", "media", "delivery"];
    const setup = [...known.map((name) => `${name}-migrations`), "roles", "topics"];
    expect(members.map(([name]) => name).toSorted()).toEqual(
      [...known, ...setup, "postgres", "kafka"].toSorted(),
    );
  });

  test("every command in compose.yaml is a list of strings", () => {
    const commands = Object.values(read()).flatMap(({ entrypoint, command, healthcheck }) => [
      ...(entrypoint ?? []),
      ...(command ?? []),
      ...(healthcheck?.test ?? []),
    ]);
    expect(commands.length).toBeGreaterThan(20);
    for (const part of commands) expect(part).toEqual(expect.any(String));
  });

  test("every compose service that another service waits for has a health check", () => {
    const services = read();
    const waits = Object.values(services).flatMap(({ depends_on: needs = {} }) =>
      Object.entries(needs).map(([name, { condition }]) => {
        const { healthcheck } = get(services, name);
        return { name, condition, hasCheck: healthcheck !== undefined };
      }),
    );
    expect(waits.length).toBeGreaterThan(10);
    // A service that ends by itself, such as a migration, needs no health check, because other
    // services wait until it has ended.
    for (const { name, condition, hasCheck } of waits)
      expect({ name, condition }).toEqual({
        name,
        condition: hasCheck ? "service_healthy" : "service_completed_successfully",
      });
  });

  test.each(WITH_SCHEMA)(
    "the compose service %s starts after its migrations, whose only setting is the connection of the service's migration role",
    (name) => {
      const services = read();
      const migrations = get(services, `${name}-migrations`);
      expect(Object.keys(get(services, name).depends_on ?? {})).toContain(`${name}-migrations`);
      expect(migrations.image).toBe(get(services, name).image);
      expect(migrations.entrypoint).toEqual(["node", "src/migrate.ts"]);
      const { DATABASE_URL = "" } = get(services, name).environment ?? {};
      const url = new URL(DATABASE_URL);
      const roles = get(services, "roles").environment ?? {};
      expect(url.password).toBe(roles[`${name.toUpperCase()}_DATABASE_PASSWORD`]);
      url.username += "_migration";
      url.password = roles[`${name.toUpperCase()}_MIGRATION_PASSWORD`] ?? "";
      expect(migrations.environment).toEqual({ MIGRATION_DATABASE_URL: url.toString() });
    },
  );

  test.each(SERVICES)(
    "the stop grace period of the compose service %s covers the time that its code needs to stop",
    (name) => {
      const seconds = Number(/^(\d+)s$/.exec(get(read(), name).stop_grace_period ?? "")?.[1]);
      expect(seconds * 1000).toBeGreaterThan(GRACE_MS.get(name) ?? Number.NaN);
    },
  );
});

test("compose.yaml has no default for any secret, and a missing or empty secret is an error", () => {
  expect(() => readCompose(REAL, {})).toThrow("TRUSTED_IDENTITIES is required");
  const empty = Object.fromEntries(Object.keys(env).map((name) => [name, ""]));
  expect(() => readCompose(REAL, empty)).toThrow("is required");
  for (const name of Object.keys(env).filter((each) => each !== "COMPOSE_FILE")) {
    const { [name]: _, ...others } = env;
    expect(() => readCompose(REAL, others), name).toThrow(`${name} is required`);
  }
});

test("every secret of a service in compose.yaml comes from .env", () => {
  const written = new Set(Object.values(env));
  const services = readCompose(REAL, env);
  for (const name of SERVICES) {
    const { environment = {} } = get(services, name);
    for (const secret of readAs(name, environment).secrets) {
      const value = environment[secret] ?? "";
      const parts = value.startsWith("postgres:") ? new URL(value).password : value;
      expect(parts === "" || written.has(parts), `${name} ${secret}`).toBe(true);
    }
  }
});

test("the simulator of the platforms accepts the settings that compose.yaml gives it", () => {
  const { environment = {} } = get(readCompose(SIMULATED, env), "simulator");
  const config = loadSimulatorConfig({ ...environment, HOST: "0.0.0.0" });
  expect(config).toEqual({ host: "0.0.0.0", port: 4100, dataDir: "/data" });
});

test("compose-env.mjs writes an .env file with fresh secrets that only its owner can read, and never replaces an existing file", () => {
  const [one, other] = [join(folder, ".env"), join(folder, "other")];
  writeEnv(other);
  expect(statSync(one).mode & 0o777).toBe(0o600);
  const before = readFileSync(one, "utf8");
  expect(() => writeEnv(one)).toThrow("exists");
  expect(readFileSync(one, "utf8")).toBe(before);
  const values = [...Object.entries(env), ...Object.entries(readEnvFile(other))]
    .filter(([name]) => name !== "COMPOSE_FILE")
    .map(([, value]) => value);
  expect(new Set(values).size).toBe(values.length);
});
