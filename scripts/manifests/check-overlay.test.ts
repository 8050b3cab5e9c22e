import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { root } from "../check/run-command.ts";
import { checkPeers } from "./check-network.ts";
import { checkManifests } from "./check-overlay.ts";
import { readListed } from "./check-secrets.ts";
import { containersOf, type Manifest, workloadsOf } from "./manifest.ts";
import { listOverlays, renderOverlay } from "./render.ts";
import { peersByImports, SERVICES } from "./services.ts";

const renders = new Map<string, readonly Manifest[]>();

beforeAll(async () => {
  for (const folder of listOverlays()) renders.set(basename(folder), await renderOverlay(folder));
}, 60_000);

function render(overlay: string): Manifest[] {
  const manifests = renders.get(overlay);
  if (manifests === undefined) throw new Error(`there is no overlay ${overlay}`);
  return structuredClone([...manifests]);
}

test("there is an overlay for trying out and one for production, and nothing is wrong with them", () => {
  expect([...renders.keys()]).toEqual(["local", "production"]);
  for (const [overlay, manifests] of renders)
    expect(checkManifests(overlay, manifests)).toEqual([]);
});

test("the settings of each service name the peers that its code has clients of", () => {
  expect(checkPeers()).toEqual([]);
  expect(peersByImports("gateway")).toEqual(["accounts", "posts", "media"]);
});

test.each(SERVICES.filter((service) => service !== "gateway"))(
  "the migrations of %s read the settings of the database, which is what their Job is held against",
  (service) => {
    const source = (file: string) =>
      readFileSync(join(root, "services", service, "src", file), "utf8");
    expect(source("migrate.ts")).toContain("readMigrationConfig()");
    expect(source("config.ts")).toMatch(
      /function readMigrationConfig\(\) \{\s+return loadConfig\(process\.env, readDatabaseConfig\);/,
    );
  },
);

test("the README lists the Secrets that production needs, with their keys, and no other", () => {
  const manifests = render("production");
  const references = workloadsOf(manifests)
    .flatMap(containersOf)
    .flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []));
  const ofPods = references.map(({ name, key }) => `${name} ${key}`);
  const [tls] = (find(manifests, "Ingress/gateway")["spec"]?.["tls"] ?? []) as Loose[];
  const ofIngress = ["tls.crt", "tls.key"].map((key) => `${String(tls?.["secretName"])} ${key}`);
  const listed = readListed().map(({ name, key }) => `${name} ${key}`);
  expect(listed.length).toBeGreaterThan(20);
  expect(new Set(listed)).toEqual(new Set([...ofPods, ...ofIngress]));
});

/** An object as the parser gave it, to be broken. */
type Loose = { [key: string]: Loose } & Loose[];

/** Finds `Kind/name`, with or without the hash at its end. */
function find(manifests: readonly Manifest[], wanted: string): Loose {
  const found = manifests.filter(
    ({ kind, metadata }) =>
      `${kind}/${metadata.name}`.replace(/-[a-z0-9]{10}$/, "") === wanted ||
      `${kind}/${metadata.name}` === wanted,
  );
  const [one] = found;
  if (one === undefined || found.length > 1) throw new Error(`${wanted}: ${found.length} found`);
  return one as unknown as Loose;
}

/** Sets what stands at `path`, whose parts are names and places; undefined removes it. */
function set(object: Loose, path: string, value: unknown): void {
  const parts = path.split(".");
  const last = parts.pop() ?? "";
  let place = object as Record<string, unknown>;
  for (const part of parts) {
    const next = place[part];
    if (typeof next !== "object" || next === null) throw new Error(`${path}: there is no ${part}`);
    place = next as Record<string, unknown>;
  }
  if (value !== undefined) place[last] = value;
  else if (Array.isArray(place)) place.splice(Number(last), 1);
  else if (last in place) delete place[last];
  else throw new Error(`${path} is not there`);
}

const POD = "spec.template.spec";
const MAIN = `${POD}.containers.0`;
const DIGEST = `sha256:${"0a".repeat(32)}`;
const CONFIG = "ConfigMap/process-config";
const ENDPOINT = "data.OTEL_EXPORTER_OTLP_ENDPOINT";

interface Mutation {
  readonly what: string;
  readonly overlay?: string;
  readonly object: string;
  readonly path: string;
  readonly to: unknown;
  readonly fault: RegExp;
}

const change = (
  what: string,
  object: string,
  path: string,
  to: unknown,
  fault: RegExp,
  overlay = "production",
): Mutation => ({ what, overlay, object, path, to, fault });

const MUTATIONS: readonly Mutation[] = [
  // What Kubernetes itself does not take, or drops in silence.
  change(
    "a misspelt field",
    "Deployment/posts",
    `${POD}.teminationGracePeriodSeconds`,
    40,
    /additional properties.*teminationGrace/,
  ),
  change(
    "a text for a number",
    "Deployment/posts",
    `${MAIN}.ports.0.containerPort`,
    "8082",
    /containerPort must be integer/,
  ),
  change(
    "a container without a name",
    "Deployment/posts",
    `${MAIN}.name`,
    undefined,
    /required property 'name'/,
  ),
  change(
    "a kind that has no schema",
    "Deployment/posts",
    "kind",
    "Deploymnt",
    /no schema of apps\/v1\/Deploymnt/,
  ),

  // Names that lead nowhere.
  change(
    "a selector that matches no label",
    "Service/posts",
    "spec.selector",
    { "app.kubernetes.io/name": "post" },
    /Service\/posts selects the pods of 0 workloads/,
  ),
  change(
    "a selector that matches everything",
    "Service/posts",
    "spec.selector",
    { "app.kubernetes.io/component": "service" },
    /Service\/posts selects the pods of 5/,
  ),
  change(
    "a Deployment that selects another's pods",
    "Deployment/posts",
    "spec.template.metadata.labels",
    { "app.kubernetes.io/name": "media" },
    /Deployment\/posts selects the pods of/,
  ),
  change(
    "a Service port that no container has",
    "Service/posts",
    "spec.ports.0.targetPort",
    "http",
    /no container has the port http/,
  ),
  change(
    "a Service port other than the container's",
    "Service/posts",
    "spec.ports.0.port",
    80,
    /port 80 is 8082 inside/,
  ),
  change(
    "an autoscaler of nothing",
    "HorizontalPodAutoscaler/posts",
    "spec.scaleTargetRef.name",
    "post",
    /scales nothing/,
  ),
  change(
    "an autoscaler that keeps one pod",
    "HorizontalPodAutoscaler/posts",
    "spec.minReplicas",
    1,
    /keeps 1 pods/,
  ),
  change(
    "more consumers than partitions",
    "HorizontalPodAutoscaler/delivery",
    "spec.maxReplicas",
    13,
    /without a partition/,
  ),
  change(
    "replicas that the autoscaler would fight",
    "Deployment/posts",
    "spec.replicas",
    3,
    /its target says itself/,
  ),
  change(
    "a budget without pods",
    "PodDisruptionBudget/posts",
    "spec.selector.matchLabels",
    { app: "posts" },
    /PodDisruptionBudget\/posts selects the pods of 0/,
  ),
  change(
    "a budget that lets no pod go",
    "PodDisruptionBudget/posts",
    "spec.maxUnavailable",
    0,
    /other than one pod/,
  ),
  change(
    "an Ingress to a port that is not there",
    "Ingress/gateway",
    "spec.rules.0.http.paths.0.backend.service.port.name",
    "web",
    /leads to gateway:web/,
  ),
  change(
    "an account that is not there",
    "Deployment/posts",
    `${POD}.serviceAccountName`,
    "post",
    /no ServiceAccount/,
  ),
  change(
    "another namespace",
    "Service/posts",
    "metadata.namespace",
    "default",
    /in another namespace/,
  ),
  change(
    "a namespace without Pod Security",
    "Namespace/postrider",
    "metadata.labels",
    {},
    /restricted/,
  ),
  change(
    "a topic that is none",
    "Deployment/delivery",
    "spec.template.metadata.labels.topic",
    "post.events.v1",
    /no topic or group/,
  ),
  change(
    "a group that is none",
    "Deployment/delivery",
    "spec.template.metadata.labels.group",
    "worker.posts.events.v1",
    /no topic or group/,
  ),
  change(
    "pods that are not spread",
    "Deployment/posts",
    `${POD}.topologySpreadConstraints`,
    [],
    /not spread/,
  ),

  // Pods that may too much, or are killed too early.
  change(
    "the newest image",
    "Deployment/posts",
    `${MAIN}.image`,
    "registry.example.com/postrider/posts:latest",
    /whatever is newest/,
  ),
  change(
    "an image without a tag",
    "Deployment/posts",
    `${MAIN}.image`,
    "registry.example.com/postrider/posts",
    /whatever is newest/,
  ),
  change(
    "an image of another version",
    "Deployment/posts",
    `${MAIN}.image`,
    "registry.example.com/postrider/posts:0.0.9",
    /not of this version/,
  ),
  change(
    "another service's image",
    "Deployment/posts",
    `${MAIN}.image`,
    "registry.example.com/postrider/media:0.1.0",
    /Deployment\/posts/,
  ),
  change(
    "a migration under the name of another version",
    "Job/posts-migrate-0-1-0",
    "metadata.name",
    "posts-migrate-0-0-9",
    /the version 0-1-0 in its name/,
  ),
  change(
    "root",
    "Deployment/posts",
    `${POD}.securityContext.runAsNonRoot`,
    undefined,
    /may run as root/,
  ),
  change(
    "the number of root",
    "Deployment/posts",
    `${MAIN}.securityContext.runAsUser`,
    0,
    /may run as root/,
  ),
  change(
    "no seccomp",
    "Deployment/posts",
    `${POD}.securityContext.seccompProfile`,
    undefined,
    /seccomp/,
  ),
  change(
    "a root that can be written",
    "Deployment/posts",
    `${MAIN}.securityContext.readOnlyRootFilesystem`,
    false,
    /write to its root/,
  ),
  change(
    "capabilities",
    "Deployment/posts",
    `${MAIN}.securityContext.capabilities`,
    { drop: ["ALL"], add: ["NET_ADMIN"] },
    /keeps capabilities/,
  ),
  change(
    "an init container with privileges",
    "Job/posts-migrate-0-1-0",
    `${POD}.initContainers.0.securityContext`,
    { privileged: true },
    /topics: is privileged/,
  ),
  change(
    "a token of the API server",
    "Deployment/posts",
    `${POD}.automountServiceAccountToken`,
    undefined,
    /token of the API server/,
  ),
  change(
    "no limit of memory",
    "Deployment/posts",
    `${MAIN}.resources.limits`,
    {},
    /no limit of memory/,
  ),
  change(
    "a limit of the processor",
    "Deployment/posts",
    `${MAIN}.resources.limits.cpu`,
    "1",
    /limit of the processor/,
  ),
  change(
    "less memory than the heap may take",
    "Deployment/posts",
    `${MAIN}.resources.limits.memory`,
    "256Mi",
    /more memory/,
  ),
  change(
    "a probe on the port of customers",
    "Deployment/gateway",
    `${MAIN}.readinessProbe.httpGet.port`,
    "http",
    /not asked \/readyz/,
  ),
  change(
    "liveness that depends on others",
    "Deployment/posts",
    `${MAIN}.livenessProbe.httpGet.path`,
    "/readyz",
    /not asked \/livez/,
  ),
  change(
    "no time to start",
    "Deployment/posts",
    `${MAIN}.startupProbe.failureThreshold`,
    5,
    /less than a minute/,
  ),
  change(
    "no sleep before the stop",
    "Deployment/posts",
    `${MAIN}.lifecycle`,
    undefined,
    /still sent requests/,
  ),
  change(
    "less time than the drain takes",
    "Deployment/posts",
    `${POD}.terminationGracePeriodSeconds`,
    20,
    /killed after 20 s and may take 29 s/,
  ),
  change(
    "less time than a call with a film takes",
    "Deployment/delivery",
    `${POD}.terminationGracePeriodSeconds`,
    90,
    /killed after 90 s and may take 305 s/,
  ),

  // Settings.
  change(
    "a setting that nothing reads",
    "ConfigMap/posts-config",
    "data.MEDIA_URL",
    "http://media:8083",
    /MEDIA_URL is set, and nothing reads it/,
  ),
  change(
    "a required setting that is missing",
    "ConfigMap/bus-config",
    "data.KAFKA_BROKERS",
    undefined,
    /KAFKA_BROKERS is required/,
  ),
  change(
    "a secret that is missing",
    "Deployment/delivery",
    `${MAIN}.env`,
    [],
    /HANDLE_KEYS is required/,
  ),
  change(
    "a secret in the open",
    "Deployment/delivery",
    `${MAIN}.env.0`,
    { name: "INTERNAL_SECRET", value: "x".repeat(40) },
    /INTERNAL_SECRET is secret and does not come from a Secret/,
  ),
  change(
    "a value that cannot be read",
    "ConfigMap/delivery-config",
    "data.SPOOL_MAX_BYTES",
    "2Gi",
    /SPOOL_MAX_BYTES is no number/,
  ),
  change(
    "another port than the container's",
    "ConfigMap/posts-config",
    "data.PORT",
    "8085",
    /listens on 8085/,
  ),
  change(
    "another port of metrics",
    "ConfigMap/posts-config",
    "data.METRICS_PORT",
    "9464",
    /listens on 9464/,
  ),
  change(
    "a setting that one of two services is told",
    "ConfigMap/gateway-config",
    "data.MEDIA_URL_SECONDS",
    "60",
    /delivery: MEDIA_URL_SECONDS differs from that of Deployment\/gateway/,
  ),
  change(
    "services that are told different things",
    "ConfigMap/accounts-config",
    "data.DEPLOYMENT_ID",
    "other",
    /DEPLOYMENT_ID differs/,
  ),
  change(
    "a ConfigMap that is not there",
    "Deployment/posts",
    `${MAIN}.envFrom.0.configMapRef.name`,
    "process",
    /ConfigMap process is not there/,
  ),
  change(
    "a ConfigMap that changes under running pods",
    "ConfigMap/posts-config",
    "metadata.name",
    "posts-config",
    /can change without a new pod/,
  ),
  change(
    "private addresses in production",
    "ConfigMap/media-config",
    "data.OUTBOUND_ALLOW",
    "10.0.0.1:80",
    /OUTBOUND_ALLOW is refused|lets private addresses through/,
  ),
  change(
    "a production that does not know it",
    "ConfigMap/process-config",
    "data.POSTRIDER_ENV",
    undefined,
    /does not know that it is production/,
  ),
  change(
    "a Secret in the repository",
    "ConfigMap/posts-config",
    "kind",
    "Secret",
    /is in the repository|ConfigMap .* is not there/,
  ),
  change(
    "a secret that the local overlay forgets",
    "Deployment/delivery",
    `${MAIN}.env.3.valueFrom.secretKeyRef.name`,
    "handle-keys",
    /has no HANDLE_KEYS/,
    "local",
  ),
  change(
    "a password other than the role's",
    "Secret/posts-database",
    "data.DATABASE_URL",
    Buffer.from("postgres://postrider_posts:other@postgres:5432/postrider").toString("base64"),
    /another role or password/,
    "local",
  ),
  change(
    "a migration that is given too much",
    "Job/posts-migrate-0-1-0",
    `${MAIN}.env.1`,
    { name: "INTERNAL_SECRET", value: "x" },
    /INTERNAL_SECRET is set, and nothing reads it/,
  ),

  // Ways through the network.
  change(
    "a peer's address that is no Service",
    "ConfigMap/posts-config",
    "data.DELIVERY_URL",
    "http://deliveries:8084",
    /no Service is deliveries:8084/,
  ),
  change(
    "a peer's address with another's port",
    "ConfigMap/posts-config",
    "data.DELIVERY_URL",
    "http://delivery:8083",
    /no Service is delivery:8083/,
  ),
  change(
    "a peer's address that is another peer's",
    "ConfigMap/posts-config",
    "data.DELIVERY_URL",
    "http://media:8083",
    /DELIVERY_URL leads to media/,
  ),
  change(
    "a peer that the process is not told of",
    "ConfigMap/posts-config",
    "data.DELIVERY_URL",
    undefined,
    /not told where delivery is/,
  ),
  change(
    "no way out to a peer",
    "NetworkPolicy/posts",
    "spec.egress.0",
    undefined,
    /Deployment\/posts: goes out to accounts:8081 not, and needs it/,
  ),
  change(
    "no way in for a peer",
    "NetworkPolicy/accounts",
    "spec.ingress.0.from.1",
    undefined,
    /Deployment\/posts: may come in to accounts:8081 not/,
  ),
  change(
    "a way in without use",
    "NetworkPolicy/delivery",
    "spec.ingress.0.from.1",
    { podSelector: {} },
    /Deployment\/gateway: may come in to delivery:8084 without need/,
  ),
  change(
    "a way in for everybody",
    "NetworkPolicy/accounts",
    "spec.ingress.1",
    {},
    /accounts:8081 is open to everybody/,
  ),
  change(
    "a way out to everything",
    "NetworkPolicy/posts",
    "spec.egress.3",
    {},
    /Deployment\/posts: goes out to/,
  ),
  change(
    "no denial",
    "NetworkPolicy/deny-all",
    "spec.podSelector",
    { matchLabels: { app: "none" } },
    /Job\/accounts-migrate-0-1-0: no policy denies Ingress/,
  ),
  change(
    "the cloud's own service",
    "NetworkPolicy/to-internet",
    "spec.egress.0.to.0.ipBlock.except.4",
    undefined,
    /media: reaches 169\.254\.169\.254/,
  ),
  change(
    "private addresses of IPv6",
    "NetworkPolicy/to-internet",
    "spec.egress.0.to.1.ipBlock.cidr",
    "::/0",
    /reaches fd00:ec2::254/,
  ),
  change(
    "no internet for who publishes",
    "Deployment/delivery",
    "spec.template.metadata.labels",
    {
      "app.kubernetes.io/name": "delivery",
      "egress.postrider/database": "true",
      "egress.postrider/bus": "true",
    },
    /delivery: reaches of the internet/,
  ),
  change(
    "the internet for who needs it not",
    "Deployment/posts",
    "spec.template.metadata.labels",
    {
      "app.kubernetes.io/name": "posts",
      "app.kubernetes.io/component": "service",
      "egress.postrider/database": "true",
      "egress.postrider/bus": "true",
      "egress.postrider/internet": "true",
    },
    /posts: reaches outside port 1-65535 without need/,
  ),
  change(
    "no way to the database",
    "NetworkPolicy/to-database",
    "spec.egress.0.ports.0.port",
    5433,
    /reaches outside port 5432 not/,
  ),
  change(
    "no way to Kafka in the cluster",
    "NetworkPolicy/kafka",
    "spec.ingress.0.ports.0.port",
    9093,
    /may come in to kafka:9092 not/,
    "local",
  ),
  change(
    "no way to the store in the cluster",
    "NetworkPolicy/s3",
    "spec.ingress",
    [],
    /media: may come in to s3:7070 not/,
    "local",
  ),
  change(
    "no way to the simulator",
    "NetworkPolicy/simulator",
    "spec.ingress",
    [],
    /may come in to gateway:4100 not/,
    "local",
  ),
  change(
    "the database for who needs it not",
    "NetworkPolicy/postgres",
    "spec.ingress.0.from.0",
    { podSelector: {} },
    /Deployment\/gateway: may come in to postgres:5432 without need/,
    "local",
  ),

  // Jobs, which cannot be changed.
  change(
    "a Job that reads a hashed ConfigMap",
    "Job/posts-migrate-0-1-0",
    `${POD}.initContainers.0.envFrom.0.configMapRef.name`,
    "bus-config-884fdf2hf4",
    /Job\/posts-migrate-0-1-0 cannot follow the hash of ConfigMap\/bus-config-884fdf2hf4/,
  ),
  change(
    "a Job that reads a hashed Secret",
    "Job/posts-migrate-0-1-0",
    `${MAIN}.env.0.valueFrom.secretKeyRef.name`,
    "posts-database-884fdf2hf4",
    /cannot follow the hash of Secret\/posts-database/,
    "local",
  ),
  change(
    "a Job that mounts a hashed ConfigMap",
    "Job/posts-migrate-0-1-0",
    `${POD}.volumes`,
    [{ name: "trust", configMap: { name: "trust-884fdf2hf4" } }],
    /cannot follow the hash of ConfigMap\/trust/,
  ),
  change(
    "a service that reads what has no hash for the sake of Jobs",
    "Deployment/posts",
    `${MAIN}.envFrom.1.configMapRef.name`,
    "topics-config",
    /ConfigMap\/topics-config can change without a new pod/,
  ),
  change(
    "Jobs that are told of other brokers than the services",
    "ConfigMap/topics-config",
    "data.KAFKA_BROKERS",
    "kafka-9.example.internal:9092",
    /Job\/posts-migrate-0-1-0 topics: KAFKA_BROKERS differs from that of Deployment/,
  ),
  change(
    "Jobs that are not told how the services log in to Kafka",
    "ConfigMap/bus-config",
    "data.KAFKA_TLS",
    "true",
    /Job\/posts-migrate-0-1-0 topics: KAFKA_TLS differs from that of Deployment/,
  ),

  // Secrets, under the names that operators are told.
  change(
    "a Secret under another name",
    "Deployment/gateway",
    `${MAIN}.env.0.valueFrom.secretKeyRef.name`,
    "internal",
    /Deployment\/gateway: INTERNAL_SECRET comes from internal INTERNAL_SECRET, which/,
  ),
  change(
    "a key under another name",
    "Deployment/delivery",
    `${MAIN}.env.3.valueFrom.secretKeyRef.key`,
    "KEYS",
    /Secret delivery-handle-keys HANDLE_KEYS is in deploy\/README.md, and nothing reads it/,
  ),

  // Ways to and from other namespaces.
  change(
    "names over TCP only",
    "NetworkPolicy/to-dns",
    "spec.egress.0.ports.0",
    undefined,
    /Deployment\/posts: resolves no names over UDP/,
  ),
  change(
    "no way in for Prometheus",
    "NetworkPolicy/monitoring",
    "spec.ingress",
    [],
    /posts: nobody may scrape/,
  ),
  change(
    "Prometheus at another port",
    "NetworkPolicy/monitoring",
    "spec.ingress.0.ports.0.port",
    9464,
    /posts: nobody may scrape/,
  ),
  change(
    "no way out for traces",
    "NetworkPolicy/monitoring",
    "spec.egress",
    [],
    /posts: goes out to no collector/,
  ),
  change(
    "a collector in a namespace that no policy names",
    CONFIG,
    ENDPOINT,
    "http://collector.tracing:4318",
    /posts: reaches outside port 4318 not, and needs it/,
  ),
  change(
    "proxies that are believed, and a way in past them",
    "NetworkPolicy/gateway",
    "spec.ingress.0.from",
    undefined,
    /everybody may come in and say by X-Forwarded-For/,
  ),
  change(
    "proxies that are believed, and an empty list of who comes in",
    "NetworkPolicy/gateway",
    "spec.ingress.0.from",
    [],
    /everybody may come in and say by X-Forwarded-For/,
  ),
  change(
    "proxies that are believed, and a way in for all namespaces",
    "NetworkPolicy/gateway",
    "spec.ingress.0.from.0.namespaceSelector",
    {},
    /everybody may come in and say by X-Forwarded-For/,
  ),
  change(
    "no way in for clients",
    "NetworkPolicy/gateway",
    "spec.ingress",
    [],
    /gateway: is closed to clients/,
  ),

  // Autoscalers and images.
  change(
    "an autoscaler that does not say what it goes by",
    "HorizontalPodAutoscaler/posts",
    "spec.metrics",
    undefined,
    /posts does not say what it goes by/,
  ),
  change(
    "an autoscaler without a number to go by",
    "HorizontalPodAutoscaler/posts",
    "spec.metrics.0.resource.target.averageValue",
    undefined,
    /posts does not say what it goes by/,
  ),
  change(
    "an image of another version beside its digest",
    "Deployment/posts",
    `${MAIN}.image`,
    `registry.example.com/postrider/posts:0.0.9@${DIGEST}`,
    /not of this version/,
  ),
  change(
    "a digest that is none",
    "Deployment/posts",
    `${MAIN}.image`,
    "registry.example.com/postrider/posts@sha256:0a",
    /whatever is newest/,
  ),
];

describe("what is broken is named", () => {
  test.each(MUTATIONS)("$what", ({ overlay = "production", object, path, to, fault }) => {
    const manifests = render(overlay);
    set(find(manifests, object), path, to);
    expect(checkManifests(overlay, manifests).join("\n")).toMatch(fault);
  });

  test.each<readonly [string, string]>([
    ["NetworkPolicy/to-dns", "Deployment/posts: resolves no names over UDP"],
    ["NetworkPolicy/to-dns", "Job/posts-migrate-0-1-0: resolves no names over TCP"],
    ...SERVICES.flatMap((service): (readonly [string, string])[] => [
      ["NetworkPolicy/monitoring", `Deployment/${service}: nobody may scrape its metrics`],
      ["NetworkPolicy/monitoring", `Deployment/${service}: goes out to no collector on 4318`],
    ]),
  ])("without %s: %s", (object, fault) => {
    for (const [overlay] of renders) {
      const manifests = render(overlay);
      const missing = find(manifests, object) as unknown as Manifest;
      const others = manifests.filter((manifest) => manifest !== missing);
      expect(checkManifests(overlay, others)).toContain(fault);
    }
  });
});

describe("what the README recommends is taken", () => {
  test.each<readonly [string, readonly (readonly [string, string, unknown])[]]>([
    [
      "an image by its digest",
      [["Deployment/posts", `${MAIN}.image`, `registry.example.com/postrider/posts@${DIGEST}`]],
    ],
    [
      "an image by tag and digest, in a registry with a port",
      [["Deployment/posts", `${MAIN}.image`, `localhost:5000/postrider/posts:0.1.0@${DIGEST}`]],
    ],
    [
      "a collector in the namespace of monitoring",
      [[CONFIG, ENDPOINT, "http://collector.monitoring:4318"]],
    ],
    [
      "a collector under its whole name",
      [[CONFIG, ENDPOINT, "http://collector.monitoring.svc.cluster.local:4318"]],
    ],
    [
      "monitoring in another namespace",
      [
        ["NetworkPolicy/monitoring", "spec.egress.0.to.0.namespaceSelector", namespaced("watch")],
        [
          "NetworkPolicy/monitoring",
          "spec.ingress.0.from.0.namespaceSelector",
          namespaced("watch"),
        ],
        [CONFIG, ENDPOINT, "http://collector.watch:4318"],
      ],
    ],
    [
      "another Ingress controller",
      [["NetworkPolicy/gateway", "spec.ingress.0.from.0.namespaceSelector", namespaced("traefik")]],
    ],
    [
      "a load balancer outside of the cluster",
      [["NetworkPolicy/gateway", "spec.ingress.0.from.0", { ipBlock: { cidr: "10.1.0.0/16" } }]],
    ],
    [
      "clients from everywhere, when no proxy is believed",
      [
        ["NetworkPolicy/gateway", "spec.ingress.0.from", undefined],
        ["ConfigMap/gateway-config", "data.TRUSTED_PROXIES", undefined],
      ],
    ],
    [
      "brokers that speak TLS",
      ["bus", "topics"].map(
        (name) => [`ConfigMap/${name}-config`, "data.KAFKA_TLS", "true"] as const,
      ),
    ],
  ])("%s", (_what, changes) => {
    const manifests = render("production");
    for (const [object, path, to] of changes) set(find(manifests, object), path, to);
    expect(checkManifests("production", manifests)).toEqual([]);
  });
});

function namespaced(name: string) {
  return { matchLabels: { "kubernetes.io/metadata.name": name } };
}
