import { checkNamespaces, leadsToNamespace } from "./check-namespaces.ts";
import { type Manifest, type Workload, workloadsOf } from "./manifest.ts";
import { Network } from "./network-policy.ts";
import { type Place, placesOf, resolvePlace } from "./places.ts";
import {
  isService,
  peersByImports,
  peersBySettings,
  PEER_SETTINGS,
  SERVICES,
  settingsOf,
} from "./services.ts";

/** Addresses that no customer's link may lead to, whatever the code does: of clusters, machines and clouds. */
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
const PUBLIC = ["203.0.113.7", "2606:4700::1111"];
const WEB_PORTS = [80, 443, 8080, 10_250];

/**
 * Each way that is open and has no use, or is used and not open. What is used is what the settings of a process name, which
 * `checkPeers` holds against what the code imports.
 */
export function checkNetwork(manifests: readonly Manifest[]): readonly string[] {
  const workloads = workloadsOf(manifests);
  const network = new Network(manifests);
  return [
    ...workloads.flatMap((workload) => checkGuarded(workload, network)),
    ...workloads.flatMap((workload) => checkOpen(workload, network)),
    ...workloads.flatMap((workload) => checkNamespaces(workload, manifests, network)),
    ...workloads.flatMap((workload) =>
      checkWays(workload, { workloads, network, manifests }).map(
        (fault) => `${workload.kind}/${workload.name}: ${fault}`,
      ),
    ),
  ];
}

/** Each service whose settings name other peers than its code has clients of. */
export function checkPeers(): readonly string[] {
  return SERVICES.flatMap((service) => {
    const [settings, imports] = [peersBySettings(service), peersByImports(service)];
    return settings.join() === imports.join()
      ? []
      : [
          `${service} is told of ${settings.join(", ")} and imports clients of ${imports.join(", ")}`,
        ];
  });
}

function checkGuarded(workload: Workload, network: Network): readonly string[] {
  return (["Ingress", "Egress"] as const).flatMap((direction) =>
    network.isGuarded(workload, direction)
      ? []
      : [`${workload.kind}/${workload.name}: no policy denies ${direction}`],
  );
}

interface Surroundings {
  readonly workloads: readonly Workload[];
  readonly network: Network;
  readonly manifests: readonly Manifest[];
}

function checkWays(workload: Workload, around: Surroundings): readonly string[] {
  const places = placesOf(workload, around.manifests);
  const inside: string[] = [];
  const outside: Place[] = [];
  const faults: string[] = [];
  for (const place of places) {
    const found = resolvePlace(place, around.manifests);
    const isElsewhere = leadsToNamespace(workload, place, around.network);
    if (found === undefined) outside.push(...(isElsewhere ? [] : [place]));
    else if (found.length === 0)
      faults.push(`${place.setting}: no Service is ${place.host}:${place.port}`);
    else inside.push(...found);
  }
  return [
    ...faults,
    ...checkPeerPlaces(workload, places),
    ...compare(
      "goes out to",
      waysOf(workload, around, (to, port) => around.network.letsOut(workload, to, port)),
      inside,
    ),
    ...compare(
      "may come in to",
      waysOf(workload, around, (to, port) => around.network.letsIn(workload, to, port)),
      inside,
    ),
    ...checkOutside(workload, outside, around.network),
  ];
}

/** What a service is told of its peers leads to them and to nobody else. */
function checkPeerPlaces(workload: Workload, places: readonly Place[]): readonly string[] {
  if (!isService(workload.name)) return [];
  return peersBySettings(workload.name).flatMap((peer) => {
    const place = places.find(({ setting }) => PEER_SETTINGS[setting] === peer);
    if (place === undefined) return [`is not told where ${peer} is`];
    return place.host === peer ? [] : [`${place.setting} leads to ${place.host}`];
  });
}

/** The ports of other pods for which `isOpen` says so. */
function waysOf(
  from: Workload,
  { workloads }: Surroundings,
  isOpen: (to: Workload, port: number) => boolean,
): readonly string[] {
  return workloads
    .filter((to) => to !== from)
    .flatMap((to) =>
      portsOf(to)
        .filter((port) => isOpen(to, port))
        .map((port) => `${to.name}:${port}`),
    );
}

function portsOf({ pod }: Workload): readonly number[] {
  return pod.containers.flatMap(({ ports = [] }) =>
    ports.map(({ containerPort }) => containerPort),
  );
}

/** Only the gateway's clients come from anywhere: `checkNamespaces` says when. */
function checkOpen(to: Workload, network: Network): readonly string[] {
  return portsOf(to)
    .filter((port) => network.isOpen(to, port) && !(to.name === "gateway" && port === 8080))
    .map((port) => `${to.name}:${port} is open to everybody`);
}

/** Outside of the cluster: the places of the settings, and everything public for those who need it. */
function checkOutside(
  workload: Workload,
  outside: readonly Place[],
  network: Network,
): readonly string[] {
  const wantsInternet = needsInternet(workload);
  const wanted = [
    ...outside.filter(({ port }) => !wantsInternet || port !== 443).map(({ port }) => String(port)),
    ...(wantsInternet ? ["1-65535"] : []),
  ];
  const faults = compare("reaches outside port", network.portsOutside(workload), wanted);
  const privates = PRIVATE.filter((address) =>
    WEB_PORTS.some((port) => network.allowsOutside(workload, address, port)),
  );
  const publics = PUBLIC.filter((address) => network.allowsOutside(workload, address, 443));
  return [
    ...faults,
    ...privates.map((address) => `reaches ${address}`),
    ...(publics.length === (wantsInternet ? PUBLIC.length : 0)
      ? []
      : [`reaches of the internet: ${publics.join(", ")}`]),
  ];
}

/** Who speaks to platforms, or fetches what customers name. */
function needsInternet({ name }: Workload): boolean {
  if (!isService(name)) return false;
  return settingsOf(name).some(
    (setting) => setting.name === "OUTBOUND_ALLOW" || setting.name.endsWith("_BASE_URL"),
  );
}

function compare(verb: string, open: readonly string[], wanted: readonly string[]): string[] {
  const [has, needs] = [new Set(open), new Set(wanted)];
  return [
    ...[...has].filter((way) => !needs.has(way)).map((way) => `${verb} ${way} without need`),
    ...[...needs].filter((way) => !has.has(way)).map((way) => `${verb} ${way} not, and needs it`),
  ];
}
