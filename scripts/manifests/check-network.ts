import { peersByImports, peersBySettings, PEER_SETTINGS } from "../services/peers.ts";
import { SERVICES, settingsOf } from "../services/settings.ts";
import { type Address, addressesOf, hasSetting, resolveAddress } from "./addresses.ts";
import { INSPECTOR } from "./check-inspector.ts";
import { type Manifest, portsOf, serviceOf, type Workload, workloadsOf } from "./manifest.ts";
import { Network } from "./network-policy.ts";

/**
 * Addresses of machines, clusters and cloud services that no pod may reach, even if a customer
 * sends a link to one.
 */
const PRIVATE = [
  "10.0.0.1",
  "100.64.0.1",
  "127.0.0.1",
  "169.254.169.254",
  "169.254.170.23",
  "172.16.0.1",
  "192.168.0.1",
  "::1",
  "fd00:ec2::254",
  "fe80::1",
  "64:ff9b::a9fe:a9fe",
  "2002:a00:1::1",
];
const WEB_PORTS = [80, 443, 8080, 10_250];
const INTERNET = ["203.0.113.7", "2606:4700::1111"];
const ALL_PORTS = "1-65535";

/** The only port that may be open to every client. */
const CLIENT_PORT = { name: "gateway", port: 8080 };
const DNS_PORT = 53;
const TELEMETRY_PORT = 4318;
/**
 * A port that no NetworkPolicy rule names, so it is open only if no policy denies incoming
 * connections.
 */
const UNUSED_PORT = 1;

/** Possible clients and attackers: a pod of any other namespace, or an address of the internet. */
const STRANGERS = [{ namespace: "any-other" }, ...INTERNET.map((address) => ({ address }))];

interface Cluster {
  readonly manifests: readonly Manifest[];
  readonly workloads: readonly Workload[];
  readonly network: Network;
}

/**
 * Lists each service whose settings contain the addresses of other services than those that its
 * code calls.
 */
export function checkPeers(): readonly string[] {
  return SERVICES.flatMap((service) => {
    const [settings, imports] = [peersBySettings(service).join(), peersByImports(service).join()];
    return settings === imports
      ? []
      : [`${service} reads the addresses of [${settings}], and its code calls [${imports}]`];
  });
}

/**
 * Connections that policies allow and no setting needs, and those the other way round. `checkPeers`
 * compares the settings with the code.
 */
export function checkNetwork(manifests: readonly Manifest[]): readonly string[] {
  const workloads = workloadsOf(manifests);
  const cluster = { manifests, workloads, network: new Network(manifests) };
  return workloads.flatMap((workload) =>
    [
      ...checkAddresses(workload, cluster),
      ...checkInternet(workload, cluster),
      ...checkClients(workload, cluster),
      ...checkInfrastructure(workload, cluster),
    ].map((fault) => `${workload.where}: ${fault}`),
  );
}

function checkAddresses(from: Workload, cluster: Cluster): readonly string[] {
  const { manifests, network } = cluster;
  const addresses = addressesOf(from, manifests);
  const found = addresses.map((address) => ({
    address,
    destination: resolveAddress(address, manifests),
  }));
  const pods = found.flatMap(({ destination: to }) => (to.kind === "pods" ? to.pods : []));
  const open = (isOpen: (to: Workload, port: number) => boolean) =>
    openPods(from, cluster.workloads, isOpen);
  const egress = open((to, port) =>
    network.allows("Egress", from, { pod: to }, { port, listener: to }),
  );
  const ingress = open((to, port) =>
    network.allows("Ingress", to, { pod: from }, { port, listener: to }),
  );
  const outside = found.filter(({ destination: to }) => to.kind === "outside");
  return [
    ...found
      .filter(({ destination: to }) => to.kind === "unknown")
      .map(
        ({ address: { setting, host, port } }) =>
          `${setting} names ${host}:${port}, which no Service has`,
      ),
    ...checkPeerAddresses(from, addresses),
    ...compare(egress, pods, "egress to"),
    ...compare(ingress, pods, "ingress at"),
    ...checkOutsidePorts(
      from,
      outside.map(({ address }) => address),
      network,
    ),
  ];
}

/** Outside of the cluster. Services that need the internet may use every port. */
function checkOutsidePorts(
  from: Workload,
  addresses: readonly Address[],
  network: Network,
): readonly string[] {
  const ports = addresses
    .filter((address) => !isInNamespace(from, address, network))
    .map(({ port }) => `${port}-${port}`);
  const needed = needsInternet(from)
    ? [...ports.filter((port) => port !== "443-443"), ALL_PORTS]
    : ports;
  const open = network.portsOutside(from).filter((port) => port !== `${DNS_PORT}-${DNS_PORT}`);
  return compare(open, needed, "egress to outside ports");
}

/** As `name:port`. */
function openPods(
  from: Workload,
  workloads: readonly Workload[],
  isOpen: (to: Workload, port: number) => boolean,
): readonly string[] {
  return workloads
    .filter((to) => to !== from)
    .flatMap((to) =>
      portsOf(to)
        .map(({ containerPort }) => containerPort)
        .filter((port) => !isForClients(to, port) && isOpen(to, port))
        .map((port) => `${to.name}:${port}`),
    );
}

function isForClients({ name }: Workload, port: number): boolean {
  return name === CLIENT_PORT.name && port === CLIENT_PORT.port;
}

/** An address like `collector.monitoring` does if a policy names that namespace. */
function isInNamespace(from: Workload, { host, port }: Address, network: Network): boolean {
  const [, namespace] =
    /^[a-z0-9-]+\.([a-z0-9-]+)(?:\.svc(?:\.cluster\.local)?)?\.?$/.exec(host) ?? [];
  return network.namespaces("Egress", from, { port }).includes(namespace ?? "");
}

function checkPeerAddresses(from: Workload, addresses: readonly Address[]): readonly string[] {
  const service = serviceOf(from);
  if (service === undefined) return [];
  return peersBySettings(service).flatMap((peer) => {
    const address = addresses.find(({ setting }) => PEER_SETTINGS[setting] === peer);
    if (address === undefined) return [`no setting holds the address of ${peer}`];
    return address.host === peer ? [] : [`${address.setting} leads to ${address.host}`];
  });
}

function compare(open: readonly string[], needed: readonly string[], what: string): string[] {
  const [isOpen, isNeeded] = [new Set(open), new Set(needed)];
  return [
    ...[...isOpen.difference(isNeeded)].map((way) => `${what} ${way} is open and not needed`),
    ...[...isNeeded.difference(isOpen)].map((way) => `${what} ${way} is needed and not open`),
  ];
}

/** For platforms, or for URLs that customers name. */
function needsInternet(workload: Workload): boolean {
  const service = serviceOf(workload);
  if (service === undefined) return false;
  return settingsOf(service).some(
    (setting) => setting.name === "OUTBOUND_ALLOW" || setting.name.endsWith("_BASE_URL"),
  );
}

function checkInternet(from: Workload, { network }: Cluster): readonly string[] {
  const reaches = (address: string, port: number) =>
    network.allows("Egress", from, { address }, { port });
  const isReached = INTERNET.filter((address) => reaches(address, 443));
  return [
    ...PRIVATE.filter((address) => WEB_PORTS.some((port) => reaches(address, port))).map(
      (address) => `may connect to the private address ${address}`,
    ),
    ...(needsInternet(from) && isReached.length < INTERNET.length
      ? [`needs the internet and reaches only [${isReached.join()}] of [${INTERNET.join()}]`]
      : []),
  ];
}

/**
 * With `TRUSTED_PROXIES`, outside clients must not reach even the port for clients, because they
 * could bypass the proxies.
 */
function checkClients(to: Workload, { network, manifests }: Cluster): readonly string[] {
  const isOpen = (port: number) =>
    STRANGERS.some((stranger) => network.allows("Ingress", to, stranger, { port, listener: to }));
  if (isOpen(UNUSED_PORT)) return ["no NetworkPolicy denies incoming connections"];
  return portsOf(to).flatMap(({ containerPort: port }) => {
    if (!isForClients(to, port))
      return isOpen(port) ? [`port ${port} is open to every client`] : [];
    if (!isOpen(port)) return network.namesClients(to, port) ? [] : ["no client can connect"];
    return hasSetting(to, "TRUSTED_PROXIES", manifests)
      ? ["clients can bypass the TRUSTED_PROXIES and forge X-Forwarded-For"]
      : [];
  });
}

/** Every pod but the inspector resolves names; Prometheus reaches all services. */
function checkInfrastructure(pod: Workload, { network }: Cluster): readonly string[] {
  if (pod.name === INSPECTOR) return [];
  const dns = (["UDP", "TCP"] as const)
    .filter(
      (protocol) =>
        !network.allows("Egress", pod, { namespace: "kube-system" }, { port: DNS_PORT, protocol }),
    )
    .map((protocol) => `cannot resolve names over ${protocol}`);
  const metrics = portsOf(pod).find(({ name }) => name === "metrics")?.containerPort;
  if (serviceOf(pod) === undefined || metrics === undefined) return dns;
  const isScraped = network.namesClients(pod, metrics);
  const isTraced = network.namespaces("Egress", pod, { port: TELEMETRY_PORT }).length > 0;
  return [
    ...dns,
    ...(isScraped ? [] : [`Prometheus cannot connect to port ${metrics}`]),
    ...(isTraced ? [] : [`cannot send traces: no namespace is open on port ${TELEMETRY_PORT}`]),
  ];
}
