import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../check/run-command.ts";
import { SERVICES, type ServiceName } from "../services/settings.ts";
import { readEnvironment } from "./environment.ts";
import {
  type Container,
  containersOf,
  type Manifest,
  ownImage,
  matches,
  type PodSpec,
  serviceOf,
  type Workload,
  workloadsOf,
} from "./manifest.ts";

/** In milliseconds: the `graceMs` that its `main.ts` passes. */
export const GRACE_MS: ReadonlyMap<ServiceName, number> = new Map(
  await Promise.all(
    SERVICES.map(async (service) => [service, await readGraceMs(service)] as const),
  ),
);

/** Follows the constant from `main.ts` to the module that exports it. */
async function readGraceMs(service: ServiceName): Promise<number> {
  const main = join(root, "services", service, "src/main.ts");
  const source = readFileSync(main, "utf8");
  const [, name = ""] = /graceMs: (\w+)/.exec(source) ?? [];
  const imported = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from "([^"]+)"`).exec(source);
  const [, specifier = ""] = imported ?? [];
  const file = specifier === "" ? "" : createRequire(main).resolve(specifier);
  const exports =
    file === "" ? {} : ((await import(pathToFileURL(file).href)) as Record<string, unknown>);
  const graceMs = exports[name];
  if (typeof graceMs === "number") return graceMs;
  throw new Error(`${main} has no graceMs: pass a constant that it imports, as the others do`);
}

/** The tag of the container images. */
const { version: VERSION } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
};

/** Sentences that are reported when their value is false. */
type Rules = Readonly<Record<string, boolean>>;

/** Too many rights, too few resources, or too little time to stop. */
export function checkPods(overlay: string, manifests: readonly Manifest[]): readonly string[] {
  return workloadsOf(manifests).flatMap((workload) => [
    ...broken(workload.where, podRules(workload)),
    ...containersOf(workload).flatMap((container) =>
      broken(`${workload.where} ${container.name}`, {
        ...containerRules(container),
        ...rightsRules(container),
        ...userRules(container, workload.pod, overlay),
      }),
    ),
    ...broken(workload.where, serviceRules(workload, overlay, manifests)),
  ]);
}

function broken(where: string, rules: Rules): readonly string[] {
  return Object.entries(rules)
    .filter(([, isKept]) => !isKept)
    .map(([fault]) => `${where}: ${fault}`);
}

function podRules({ kind, name, objectLabels, labels, selector, pod }: Workload): Rules {
  const { securityContext: security } = pod;
  const version = VERSION.replaceAll(".", "-");
  return {
    "its selector does not match its own pods": matches(labels, selector),
    "runAsNonRoot is not set": security?.runAsNonRoot === true,
    "the seccomp profile is not RuntimeDefault":
      security?.seccompProfile?.type === "RuntimeDefault",
    "no label says that the Job is a migration":
      kind !== "Job" || objectLabels["app.kubernetes.io/component"] === "migration",
    "the token of the API server is mounted": pod.automountServiceAccountToken === false,
    "the addresses of all Services are passed as variables": pod.enableServiceLinks === false,
    // A Kubernetes Job cannot be changed, so each version of Postrider needs a Job of its own.
    [`the name of the Job does not end with the version ${version}`]:
      kind !== "Job" || name.endsWith(`-${version}`),
  };
}

function containerRules({ image, resources }: Container): Rules {
  const { requests = {}, limits = {} } = resources ?? {};
  return {
    // Only of our own images, whose use is known.
    "no ephemeral storage is requested":
      ownImage(image) === undefined || requests["ephemeral-storage"] !== undefined,
    "no CPU or memory is requested":
      requests["cpu"] !== undefined && requests["memory"] !== undefined,
    "there is no memory limit": limits["memory"] !== undefined,
    "a CPU limit throttles the event loop": limits["cpu"] === undefined,
    [`${image} is not version ${VERSION}`]: ownImage(image) === undefined || hasVersion(image),
    [`${image} has no version`]: ownImage(image) !== undefined || hasVersion(image),
  };
}

function rightsRules({ securityContext: security }: Container): Rules {
  const { drop, add } = security?.capabilities ?? {};
  return {
    "processes may gain privileges": security?.allowPrivilegeEscalation === false,
    "it is privileged": security?.privileged !== true,
    "capabilities are kept": drop?.join() === "ALL" && add === undefined,
    "the root file system can be written": security?.readOnlyRootFilesystem === true,
  };
}

/** A lower id may belong to a user of the node. The databases of `local` need their own users. */
const MIN_ID = 10_000;

function userRules(
  { securityContext }: Container,
  { securityContext: common }: PodSpec,
  overlay: string,
): Rules {
  const { runAsUser = 0, runAsGroup = 0 } = { ...common, ...securityContext };
  return {
    [`the user or the group has an id below ${MIN_ID}`]:
      overlay === "local" || Math.min(runAsUser, runAsGroup) >= MIN_ID,
  };
}

/** A digest names an image but no version, so a tag beside it names the version. */
function hasVersion(image: string): boolean {
  const [, tag, digest] = /^[^@]*?(?::([^:/@]+))?(?:@(sha256:[0-9a-f]{64}))?$/.exec(image) ?? [];
  if (tag === undefined) return digest !== undefined;
  return ownImage(image) === undefined ? tag !== "latest" : tag === VERSION;
}

function serviceRules(workload: Workload, overlay: string, manifests: readonly Manifest[]): Rules {
  const service = serviceOf(workload);
  const { pod } = workload;
  const container = pod.containers.find(({ image }) => ownImage(image) === service);
  if (service === undefined || container === undefined) return {};
  return {
    ...probeRules(container, pod),
    ...stopRules(pod, container, GRACE_MS.get(service) ?? 0),
    "Node's heap may take more than 75 % of the memory limit": heapFits(container, manifests),
    "pods are not spread over nodes and zones":
      overlay === "local" || pod.topologySpreadConstraints?.length === 2,
  };
}

const MAX_PROBE_GRACE_SECONDS = 60;

function probeRules(
  { startupProbe, readinessProbe, livenessProbe }: Container,
  { terminationGracePeriodSeconds: podGraceSeconds = 30 }: PodSpec,
): Rules {
  const asks = (probe: typeof startupProbe, path: string): boolean =>
    probe?.httpGet?.path === path && probe.httpGet.port === "metrics";
  const { periodSeconds = 10, failureThreshold = 3 } = startupProbe ?? {};
  return {
    "the startup probe does not ask /livez on the metrics port": asks(startupProbe, "/livez"),
    "the service has less than three minutes to start": periodSeconds * failureThreshold >= 180,
    "the readiness probe does not ask /readyz on the metrics port": asks(readinessProbe, "/readyz"),
    "the liveness probe does not ask /livez on the metrics port": asks(livenessProbe, "/livez"),
    // Otherwise a process that hangs keeps its place for as long as one that finishes its calls.
    "a process that does not answer is not killed within a minute": [
      startupProbe,
      livenessProbe,
    ].every(
      (probe) =>
        (probe?.terminationGracePeriodSeconds ?? podGraceSeconds) <= MAX_PROBE_GRACE_SECONDS,
    ),
  };
}

/** It covers the time in which callers learn of the stop, and `graceMs` of the code. */
function stopRules(
  { terminationGracePeriodSeconds: graceSeconds = 30 }: PodSpec,
  { lifecycle }: Container,
  graceMs: number,
): Rules {
  const sleepSeconds = lifecycle?.preStop?.sleep?.seconds ?? 0;
  const neededSeconds = graceMs / 1000 + sleepSeconds;
  return {
    "no preStop sleep of 5 s: callers still send requests when the process stops":
      sleepSeconds >= 5,
    [`it is killed after ${graceSeconds} s and may need ${neededSeconds} s to stop`]:
      graceSeconds >= neededSeconds,
  };
}

const MIB: Readonly<Record<string, number>> = { Mi: 1, Gi: 1024 };

function heapFits(container: Container, manifests: readonly Manifest[]): boolean {
  const options = readEnvironment(container, manifests).variables.get("NODE_OPTIONS")?.value ?? "";
  const heap = Number(/--max-old-space-size=(\d+)/.exec(options)?.[1]);
  const limit = container.resources?.limits?.["memory"] ?? "";
  const [, size, unit = ""] = /^(\d+)(Mi|Gi)$/.exec(limit) ?? [];
  return heap <= 0.75 * Number(size) * (MIB[unit] ?? 0);
}
