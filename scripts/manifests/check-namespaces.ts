import { readEnvironment } from "./environment.ts";
import { containersOf, type Manifest, type Workload } from "./manifest.ts";
import type { Network } from "./network-policy.ts";
import type { Place } from "./places.ts";
import { isService } from "./services.ts";

const DNS = "kube-system";
const DNS_PORT = 53;
const TELEMETRY_PORT = 4318;
const GATEWAY_PORT = 8080;

/** Each way that a pod lacks to or from what the cluster has in other namespaces: DNS, monitoring, its Ingress controller. */
export function checkNamespaces(
  workload: Workload,
  manifests: readonly Manifest[],
  network: Network,
): readonly string[] {
  const faults = [
    ...["UDP", "TCP"]
      .filter(
        (protocol) => !network.namespaces(workload, "Egress", DNS_PORT, protocol).includes(DNS),
      )
      .map((protocol) => `resolves no names over ${protocol}`),
    ...(isService(workload.name) ? monitoringFaults(workload, network) : []),
    ...(workload.name === "gateway" ? clientFaults(workload, manifests, network) : []),
  ];
  return faults.map((fault) => `${workload.kind}/${workload.name}: ${fault}`);
}

/**
 * Whether a place is in another namespace, and policies let a pod go there. Nothing in `collector.monitoring` says whether it
 * is a Service or an address outside, so it is the former where a policy names that namespace.
 */
export function leadsToNamespace(
  workload: Workload,
  { host, port }: Place,
  network: Network,
): boolean {
  const [, namespace = ""] =
    /^[a-z0-9-]+\.([a-z0-9-]+)(?:\.svc(?:\.cluster\.local)?)?\.?$/.exec(host) ?? [];
  return network.namespaces(workload, "Egress", port).includes(namespace);
}

function monitoringFaults(workload: Workload, network: Network): readonly string[] {
  const metrics = workload.pod.containers
    .filter(({ name }) => name === workload.name)
    .flatMap(({ ports = [] }) => ports.filter(({ name }) => name === "metrics"));
  const isScraped = metrics.some(
    ({ containerPort }) => network.namespaces(workload, "Ingress", containerPort).length > 0,
  );
  const isTraced = network.namespaces(workload, "Egress", TELEMETRY_PORT).length > 0;
  return [
    ...(isScraped ? [] : ["nobody may scrape its metrics"]),
    ...(isTraced ? [] : [`goes out to no collector on ${TELEMETRY_PORT}`]),
  ];
}

/** Who comes in past a trusted proxy says himself who he is, so with proxies nobody but they come in. */
function clientFaults(
  gateway: Workload,
  manifests: readonly Manifest[],
  network: Network,
): readonly string[] {
  const hasProxies = containersOf(gateway).some((container) =>
    readEnvironment(container, manifests).variables.has("TRUSTED_PROXIES"),
  );
  const isOpen = network.isOpen(gateway, GATEWAY_PORT);
  if (!isOpen && !network.isOpenToSome(gateway, GATEWAY_PORT)) return ["is closed to clients"];
  return isOpen && hasProxies
    ? ["everybody may come in and say by X-Forwarded-For that he is another"]
    : [];
}
