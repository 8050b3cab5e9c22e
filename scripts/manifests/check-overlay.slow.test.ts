import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { formatApiKey } from "../../packages/shared/src/secrets/api-keys.ts";
import { root } from "../check/run-command.ts";
import { peersByImports } from "../services/peers.ts";
import { SERVICES } from "../services/settings.ts";
import { checkPeers } from "./check-network.ts";
import { checkManifests, checkOverlay, parseManifests } from "./check-overlay.ts";
import { checkSchema } from "./check-schema.ts";
import { containersOf, type Manifest, ofKind, workloadsOf } from "./manifest.ts";
import { listOverlays, renderOverlay } from "./tools.ts";

/**
 * A test case of broken-manifests.yaml or accepted-manifests.yaml: a change of the overlay's
 * manifests.
 */
interface Case {
  readonly overlay?: string;
  readonly change: Readonly<Record<string, unknown>>;
}

interface BrokenCase extends Case {
  readonly report: string;
  readonly fault: string;
}

const readCases = (file: string): unknown =>
  parse(readFileSync(join(import.meta.dirname, file), "utf8"));
const BROKEN = readCases("broken-manifests.yaml") as readonly BrokenCase[];
const ACCEPTED = readCases("accepted-manifests.yaml") as readonly (Case & { accept: string })[];

const parsed = new Map<string, readonly Manifest[]>();
const faultsOf = new Map<string, readonly string[]>();

// The first run on a machine downloads kubectl, or compiles kustomize.
beforeAll(() => {
  for (const folder of listOverlays()) {
    const text = renderOverlay(folder);
    parsed.set(basename(folder), parseManifests(text));
    faultsOf.set(basename(folder), checkOverlay(basename(folder), text));
  }
}, 600_000);

function render(overlay: string): Manifest[] {
  return structuredClone([...(parsed.get(overlay) ?? [])]);
}

/**
 * Finds the Kubernetes object `Kind/name`, with or without the hash that kustomize appends to the
 * name.
 */
function find(manifests: readonly Manifest[], wanted: string): object {
  const [kind = "", name = ""] = wanted.split("/");
  const found = ofKind(manifests, kind).filter(({ metadata }) =>
    [metadata.name, metadata.name.replace(/-[2456789bcdfghkmt]{10}$/, "")].includes(name),
  );
  if (found[0] === undefined || found.length > 1) throw new Error(`${found.length} are ${wanted}`);
  return found[0];
}

/**
 * Sets the value at a path of a Kubernetes object; null removes the value. Keys may contain dots,
 * as labels do.
 */
function set(object: object, path: string, value: unknown): void {
  let place = object as Record<string, unknown>;
  let rest = path;
  for (;;) {
    const key = Object.keys(place).find((one) => rest === one || rest.startsWith(`${one}.`));
    if (key === undefined || key === rest) break;
    rest = rest.slice(key.length + 1);
    place = place[key] as Record<string, unknown>;
  }
  if (value !== null) place[rest] = value;
  else if (Array.isArray(place)) place.splice(Number(rest), 1);
  else if (rest in place) delete place[rest];
  else throw new Error(`${path}: there is nothing to remove`);
}

function renderChanged({ overlay = "production", change }: Case): readonly Manifest[] {
  const manifests = render(overlay);
  for (const [where, value] of Object.entries(change)) {
    const [object = "", path = ""] = where.split(" ");
    const full = path
      .replace(/^container\./, "pod.containers.0.")
      .replace(/^pod\./, "spec.template.spec.");
    set(find(manifests, object), full, value);
  }
  return manifests;
}

test("the checks of the Kubernetes manifests accept the overlays `local` and `production` without changes", () => {
  expect([...faultsOf]).toEqual([
    ["local", []],
    ["production", []],
  ]);
});

function renderWithComponents(...names: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "postrider-overlay-"));
  const path = (name: string): string => relative(folder, join(root, "deploy/k8s", name));
  const kustomization = {
    namespace: "postrider",
    resources: [path("overlays/production")],
    components: names.map((name) => path(`components/${name}`)),
  };
  try {
    writeFileSync(join(folder, "kustomization.yaml"), JSON.stringify(kustomization));
    return renderOverlay(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the checks of the Kubernetes manifests accept the overlay `production` with the components for KEDA and for the Prometheus Operator", () => {
  const text = renderWithComponents("scale-on-tasks", "monitoring");
  const [object] = ofKind(parseManifests(text), "ScaledObject") as [Manifest];
  set(object, "spec.maxReplicaCount", 13);

  expect(checkOverlay("production", text)).toEqual([]);
  expect(checkManifests("production", [...render("production"), object])).toEqual([
    "ScaledObject/delivery allows more pods than the 12 partitions of a topic",
  ]);
});

interface ScaledObject {
  readonly advanced: { readonly horizontalPodAutoscalerConfig: { readonly name: string } };
}

test("the component for KEDA takes over the autoscaler of an installation that runs, because `kubectl apply` leaves it and KEDA refuses a second one", () => {
  const [autoscaler] = ofKind(render("production"), "HorizontalPodAutoscaler").filter(
    ({ metadata }) => metadata.name === "delivery",
  );
  const manifests = parseManifests(renderWithComponents("scale-on-tasks"));
  const [object] = ofKind<ScaledObject>(manifests, "ScaledObject");

  expect(object?.spec?.advanced.horizontalPodAutoscalerConfig.name).toBe(autoscaler?.metadata.name);
  expect(object?.metadata).toMatchObject({
    annotations: { "scaledobject.keda.sh/transfer-hpa-ownership": "true" },
  });
});

interface RouteRules {
  readonly hostnames: readonly string[];
  readonly rules: readonly {
    readonly matches?: readonly { readonly headers?: readonly { readonly value: string }[] }[];
    readonly filters?: readonly { readonly urlRewrite?: { readonly hostname: string } }[];
  }[];
}

const SHARED_GATEWAY = join(root, "deploy/cells/gateway.yaml");

test("the checks of the Kubernetes manifests accept the overlay `production` as a cell, whose route takes the API keys of the cell alone", () => {
  const text = renderWithComponents("cell");
  expect(checkOverlay("production", text)).toEqual([]);
  const routes = ofKind<RouteRules>(parseManifests(text), "HTTPRoute");
  const route = routes.find(({ metadata }) => metadata.name === "keys-of-cell");
  const { hostnames = [], rules = [] } = route?.spec ?? {};
  expect(readFileSync(SHARED_GATEWAY, "utf8")).toContain(`hostname: ${hostnames[0]}\n`);
  expect(text).toContain(`eu1=https://${rules[0]?.filters?.[0]?.urlRewrite?.hostname},`);
  const expression = new RegExp(rules[0]?.matches?.[0]?.headers?.[0]?.value ?? "");
  const matches = (cell?: string, scheme = "Bearer") =>
    expression.test(`${scheme} ${formatApiKey(new Uint8Array(32), "key", cell)}`);
  expect([matches("eu1"), matches("eu1", "bearer ")]).toEqual([true, true]);
  expect([matches("eu"), matches("us1"), matches(), matches("eu1", "Basic x")]).toEqual(
    Array(4).fill(false),
  );
});

interface Listeners {
  readonly listeners: readonly {
    readonly port: number;
    readonly allowedRoutes?: {
      readonly namespaces: { readonly selector: { readonly matchLabels: object } };
    };
  }[];
}

test("the address that all cells share admits routes of the namespace that deploy/README.md creates, and answers on port 80 for its certificate", () => {
  const gateways = parseManifests(readFileSync(SHARED_GATEWAY, "utf8"));
  expect(checkSchema(gateways)).toEqual([]);
  const [gateway] = ofKind<Listeners>(gateways, "Gateway");
  const { listeners = [] } = gateway?.spec ?? {};
  expect(listeners.map(({ port }) => port)).toEqual([80, 443]);
  const file = join(root, "deploy/k8s/base/namespace.yaml");
  const [namespace] = parseManifests(readFileSync(file, "utf8"));
  const { matchLabels } = listeners[1]?.allowedRoutes?.namespaces.selector ?? {};
  expect(matchLabels).toBeDefined();
  expect(namespace?.metadata.labels).toMatchObject(matchLabels ?? {});
});

const UNITS: Readonly<Record<string, number>> = { m: 0.001, Mi: 1 / 1024, Gi: 1 };

function quantity(text = ""): number {
  const [, number, unit = ""] = /^(\d+)(\w*)$/.exec(text) ?? [];
  return Number(number) * (UNITS[unit] ?? 1);
}

test("deploy/README.md says how many pods the overlay `production` starts, and what they request", () => {
  const manifests = render("production");
  const autoscalers = ofKind<{ scaleTargetRef: { name: string }; minReplicas: number }>(
    manifests,
    "HorizontalPodAutoscaler",
  );
  const pods = autoscalers.flatMap(({ spec }) => {
    const workload = workloadsOf(manifests).find(({ name }) => name === spec?.scaleTargetRef.name);
    const requests = workload?.pod.containers[0]?.resources?.requests;
    return Array.from({ length: spec?.minReplicas ?? 0 }, () => requests);
  });
  const sum = (name: string): string =>
    pods.reduce((total, requests) => total + quantity(requests?.[name]), 0).toFixed(1);
  const text = readFileSync(join(root, "deploy/README.md"), "utf8").replaceAll(/\s+/g, " ");

  expect(text).toContain(
    `starts ${pods.length} pods that request ${sum("cpu")} CPUs, ${sum("memory")} GiB of memory and ${sum("ephemeral-storage")} GiB of disk`,
  );
});

test.each(BROKEN)("the checks of the Kubernetes manifests report this mistake: $report", (one) => {
  const faults = checkManifests(one.overlay ?? "production", renderChanged(one));
  expect(faults.join("\n")).toContain(one.fault);
});

test.each(ACCEPTED)(
  "the checks of the Kubernetes manifests accept this variant: $accept",
  (one) => {
    expect(checkManifests("production", renderChanged(one))).toEqual([]);
  },
);

test("the settings of each service contain the addresses of exactly the services that its code calls", () => {
  expect(checkPeers()).toEqual([]);
  expect(peersByImports("gateway")).toEqual(["accounts", "posts", "media", "delivery"]);
});

test.each(SERVICES.filter((service) => service !== "gateway"))(
  "the migrations of the %s service read no setting except the connection of the service's migration role",
  (service) => {
    const config = readFileSync(join(root, "services", service, "src/config.ts"), "utf8");
    expect(config).toMatch(
      /readMigrationConfig( = )?\(\) (=>|\{\s+return) loadConfig\(process\.env, readMigrationSettings\);/,
    );
  },
);

test("deploy/README.md lists exactly the Secrets and keys that the overlay `production` reads", () => {
  const manifests = render("production");
  const read = workloadsOf(manifests)
    .flatMap(containersOf)
    .flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []))
    .map(({ name, key }) => `${name} ${key}`);
  const { spec } = find(manifests, "Gateway/postrider") as Manifest<{
    listeners: readonly { tls?: { certificateRefs: readonly { name: string }[] } }[];
  }>;
  const tls = spec?.listeners
    .flatMap((listener) => listener.tls?.certificateRefs ?? [])
    .flatMap(({ name }) => ["tls.crt", "tls.key"].map((key) => `${name} ${key}`));
  const readme = readFileSync(join(root, "deploy/README.md"), "utf8");
  const quoted = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
  const listed = [...readme.matchAll(/^ *\| (`.*?) \| (`.*?) \|/gm)].flatMap(([, names, keys]) =>
    quoted(names).flatMap((name) => quoted(keys).map((key) => `${name} ${key}`)),
  );
  expect(new Set(listed)).toEqual(new Set([...read, ...(tls ?? [])]));
});
