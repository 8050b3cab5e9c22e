import { readEnvironment } from "./environment.ts";
import {
  type Container,
  containersOf,
  type Manifest,
  ownImage,
  type PodSpec,
  type Probe,
  type Workload,
  workloadsOf,
} from "./manifest.ts";
import { graceMsOf, isService, readVersion, type ServiceName } from "./services.ts";

/** Each pod that could do more than it has to, would be killed too early, or says nothing of its health. */
export function checkPods(manifests: readonly Manifest[]): readonly string[] {
  return workloadsOf(manifests).flatMap((workload) => {
    const faults = [
      ...podFaults(workload),
      ...containersOf(workload).flatMap((container) =>
        [...containerFaults(container), ...imageFaults(container)].map(
          (fault) => `${container.name}: ${fault}`,
        ),
      ),
      ...runningFaults(workload),
      ...serviceFaults(workload, manifests),
    ];
    return faults.map((fault) => `${workload.kind}/${workload.name}: ${fault}`);
  });
}

/** The names of those that do not hold. */
function broken(rules: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.entries(rules)
    .filter(([, holds]) => !holds)
    .map(([rule]) => rule);
}

function podFaults({ kind, name, pod }: Workload): readonly string[] {
  const { securityContext: security } = pod;
  const version = readVersion().replaceAll(".", "-");
  return broken({
    "may run as root": security?.runAsNonRoot === true && (security.runAsUser ?? 0) > 0,
    "has no seccomp profile": security?.seccompProfile?.type === "RuntimeDefault",
    "is given a token of the API server": pod.automountServiceAccountToken === false,
    "is given the addresses of all Services as variables": pod.enableServiceLinks === false,
    "is in the node's network": pod.hostNetwork !== true,
    [`does not have the version ${version} in its name`]:
      kind !== "Job" || name.endsWith(`-${version}`),
  });
}

function containerFaults({ securityContext = {}, resources }: Container): readonly string[] {
  const { requests, limits } = resources ?? {};
  const { drop, add } = securityContext.capabilities ?? {};
  return broken({
    "may gain privileges": securityContext.allowPrivilegeEscalation === false,
    "may write to its root": securityContext.readOnlyRootFilesystem === true,
    "is privileged": securityContext.privileged !== true,
    "may run as root": securityContext.runAsUser !== 0,
    "keeps capabilities": drop?.join() === "ALL" && add === undefined,
    "requests no processor": requests?.cpu !== undefined,
    "requests no memory": requests?.memory !== undefined,
    "has no limit of memory": limits?.memory !== undefined,
    "has a limit of the processor, which would stop the event loop": limits?.cpu === undefined,
  });
}

/** A digest names one image for ever, of whatever version; a tag beside it is held to its word. */
function imageFaults({ image }: Container): readonly string[] {
  const [, tag, digest] = /^[^@]*?(?::([^:/@]+))?(?:@(sha256:[0-9a-f]{64}))?$/.exec(image) ?? [];
  const isOfThisVersion = tag === readVersion() || (tag === undefined && digest !== undefined);
  return broken({
    [`${image} is whatever is newest`]:
      digest !== undefined || (tag !== undefined && tag !== "latest"),
    [`${image} is not of this version`]: ownImage(image) === undefined || isOfThisVersion,
  });
}

/** Of what runs all the time. */
function runningFaults({ kind, pod }: Workload): readonly string[] {
  if (kind === "Job") return [];
  return pod.containers.flatMap(({ name, readinessProbe }) =>
    readinessProbe === undefined ? [`${name}: nobody knows when it is ready`] : [],
  );
}

const asks = (probe: Probe | undefined, path: string): boolean =>
  probe?.httpGet?.path === path && probe.httpGet.port === "metrics";

function serviceFaults({ name, pod }: Workload, manifests: readonly Manifest[]): readonly string[] {
  const container = pod.containers.find((one) => ownImage(one.image) === name);
  if (!isService(name) || container === undefined) return [];
  const fits = {
    "may use more memory for its objects than it has": heapFits(container, manifests),
  };
  return [...broken({ ...probeRules(container), ...fits }), ...stopFaults(name, pod, container)];
}

function probeRules({ startupProbe, readinessProbe, livenessProbe }: Container) {
  const { periodSeconds = 10, failureThreshold = 3 } = startupProbe ?? {};
  return {
    "is not asked /livez while it starts": asks(startupProbe, "/livez"),
    "has less than a minute to start": periodSeconds * failureThreshold >= 60,
    "is not asked /readyz": asks(readinessProbe, "/readyz"),
    "is not asked /livez": asks(livenessProbe, "/livez"),
  };
}

/** Callers learn late that a pod goes, and what it does then may take as long as its `main.ts` says. */
function stopFaults(
  service: ServiceName,
  { terminationGracePeriodSeconds: graceSeconds = 30 }: PodSpec,
  { lifecycle }: Container,
): readonly string[] {
  const sleepSeconds = lifecycle?.preStop?.sleep?.seconds ?? 0;
  const neededSeconds = graceMsOf(service) / 1000 + sleepSeconds;
  return broken({
    "stops while it is still sent requests": sleepSeconds >= 5,
    [`is killed after ${graceSeconds} s and may take ${neededSeconds} s to stop`]:
      graceSeconds >= neededSeconds,
  });
}

const MIB: Readonly<Record<string, number>> = { Mi: 1, Gi: 1024 };

/** Objects take three quarters of the limit at most: buffers, code and stacks need the rest. */
function heapFits(container: Container, manifests: readonly Manifest[]): boolean {
  const options = readEnvironment(container, manifests).variables.get("NODE_OPTIONS")?.value ?? "";
  const heap = Number(/--max-old-space-size=(\d+)/.exec(options)?.[1]);
  const [, size, unit = ""] =
    /^(\d+)(Mi|Gi)$/.exec(container.resources?.limits?.memory ?? "") ?? [];
  return heap <= 0.75 * Number(size) * (MIB[unit] ?? 0);
}
