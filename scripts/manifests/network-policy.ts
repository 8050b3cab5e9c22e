import { BlockList, isIPv6 } from "node:net";
import { type Labels, type Manifest, matches, ofKind, type Workload } from "./manifest.ts";

interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Port {
  readonly port?: number | string;
  readonly endPort?: number;
  readonly protocol?: string;
}

/** Kubernetes gives every namespace this label, with its name. */
const NAMESPACE = "kubernetes.io/metadata.name";

/** One rule, whichever way it points: `from` and `to` are `peers` here. */
interface Rule {
  readonly peers: readonly Peer[] | undefined;
  readonly ports: readonly Port[] | undefined;
}

type Direction = "Ingress" | "Egress";

interface PolicySpec {
  readonly podSelector: Selector;
  readonly policyTypes?: readonly Direction[];
  readonly ingress?: readonly {
    readonly from?: readonly Peer[];
    readonly ports?: readonly Port[];
  }[];
  readonly egress?: readonly { readonly to?: readonly Peer[]; readonly ports?: readonly Port[] }[];
}

/** What the NetworkPolicies of a render let through, as a cluster that enforces them does. */
export class Network {
  readonly #policies: readonly PolicySpec[];

  constructor(manifests: readonly Manifest[]) {
    this.#policies = ofKind(manifests, "NetworkPolicy").map(({ spec }) => spec as PolicySpec);
  }

  /** Whether some policy speaks for the pods at all; a pod without one is open to everything. */
  isGuarded({ labels }: Workload, direction: Direction): boolean {
    return this.#rules(labels, direction) !== undefined;
  }

  /** Whether a pod of `from` may go out to a port of a pod of `to`, both in our namespace. */
  letsOut(from: Workload, to: Workload, port: number): boolean {
    const rules = this.#rules(from.labels, "Egress");
    return rules === undefined || rules.some((rule) => leadsTo(rule, to.labels, port, to));
  }

  /** Whether a pod of `from` may come in to a port of a pod of `to`, because a rule names it. */
  letsIn(from: Workload, to: Workload, port: number): boolean {
    const rules = this.#rules(to.labels, "Ingress") ?? [];
    return rules.some((rule) => rule.peers !== undefined && leadsTo(rule, from.labels, port, to));
  }

  /** Whether everybody may come in to a port of a pod, all other pods of the cluster at least. */
  isOpen(to: Workload, port: number): boolean {
    const rules = this.#rules(to.labels, "Ingress");
    return (
      rules === undefined ||
      rules.some(
        ({ peers, ports }) =>
          (peers === undefined || peers.some(isEverybody)) && includesPort(ports, port, to),
      )
    );
  }

  /** Whether some namespaces, or some addresses, may come in to a port of a pod because a rule names them. */
  isOpenToSome(to: Workload, port: number): boolean {
    const rules = this.#rules(to.labels, "Ingress") ?? [];
    return rules.some(
      ({ peers, ports }) =>
        peers?.some((peer) => peer.namespaceSelector !== undefined || peer.ipBlock !== undefined) &&
        includesPort(ports, port, to),
    );
  }

  /** The namespaces that rules name: those from which one comes in to a port of a pod, or into which a pod goes out to it. */
  namespaces(
    pod: Workload,
    direction: Direction,
    port: number,
    protocol?: string,
  ): readonly string[] {
    return (this.#rules(pod.labels, direction) ?? [])
      .filter(({ ports }) => includesPort(ports, port, pod, protocol))
      .flatMap(({ peers = [] }) => peers)
      .flatMap(({ namespaceSelector }) => namespaceSelector?.matchLabels?.[NAMESPACE] ?? []);
  }

  /** Whether pods reach a port of an address outside of the cluster. */
  allowsOutside({ labels }: Workload, address: string, port: number): boolean {
    const rules = this.#rules(labels, "Egress");
    return (
      rules === undefined ||
      rules.some(
        ({ peers, ports }) =>
          (peers === undefined || peers.some((peer) => holds(peer, address))) &&
          includesPort(ports, port, undefined),
      )
    );
  }

  /** The ports that pods reach at some address outside, as `from-to`; those of DNS are left out. */
  portsOutside({ labels }: Workload): readonly string[] {
    const rules = this.#rules(labels, "Egress") ?? [];
    const ports = rules
      .filter(({ peers }) => peers?.some(({ ipBlock }) => ipBlock !== undefined) ?? true)
      .flatMap((rule) => rule.ports ?? [{ port: 1, endPort: 65_535 }]);
    return ports
      .filter(({ port }) => port !== 53)
      .map(({ port, endPort = port }) => (port === endPort ? String(port) : `${port}-${endPort}`));
  }

  #rules(labels: Labels, direction: Direction): readonly Rule[] | undefined {
    const own = this.#policies.filter(
      ({ podSelector, policyTypes }) =>
        selects(podSelector, labels) && (policyTypes ?? ["Ingress"]).includes(direction),
    );
    if (own.length === 0) return undefined;
    return direction === "Ingress"
      ? own.flatMap(({ ingress = [] }) =>
          ingress.map(({ from, ports }) => ({ peers: someOrAll(from), ports: someOrAll(ports) })),
        )
      : own.flatMap(({ egress = [] }) =>
          egress.map(({ to, ports }) => ({ peers: someOrAll(to), ports: someOrAll(ports) })),
        );
  }
}

/** To a cluster an empty list is as good as none: everything. */
function someOrAll<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length === 0 ? undefined : list;
}

function leadsTo({ peers, ports }: Rule, labels: Labels, port: number, to: Workload): boolean {
  const isPeer =
    peers === undefined ||
    peers.some(
      ({ podSelector, namespaceSelector }) =>
        podSelector !== undefined &&
        namespaceSelector === undefined &&
        selects(podSelector, labels),
    );
  return isPeer && includesPort(ports, port, to);
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    matches(labels, matchLabels) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator !== "In") throw new Error(`the checks know no selector with ${operator}`);
      return values.includes(labels[key] ?? "");
    })
  );
}

/** Every pod of the cluster, or every address. */
function isEverybody({ namespaceSelector, podSelector, ipBlock }: Peer): boolean {
  if (ipBlock !== undefined) return ipBlock.cidr.endsWith("/0");
  return [namespaceSelector, podSelector ?? {}].every(
    (selector) => selector !== undefined && Object.keys(selector).length === 0,
  );
}

function includesPort(
  ports: readonly Port[] | undefined,
  wanted: number,
  to: Workload | undefined,
  wantedProtocol = "TCP",
): boolean {
  if (ports === undefined) return true;
  return ports.some(({ port, endPort, protocol = "TCP" }) => {
    if (protocol !== wantedProtocol) return false;
    const from = typeof port === "string" ? portNamed(port, to) : (port ?? 1);
    const until = endPort ?? (port === undefined ? 65_535 : from);
    return from <= wanted && wanted <= until;
  });
}

function portNamed(name: string, to: Workload | undefined): number {
  const ports = to?.pod.containers.flatMap((container) => container.ports ?? []) ?? [];
  return ports.find((port) => port.name === name)?.containerPort ?? Number.NaN;
}

function holds({ ipBlock }: Peer, address: string): boolean {
  if (ipBlock === undefined) return false;
  return (
    isWithin(ipBlock.cidr, address) && !ipBlock.except?.some((cidr) => isWithin(cidr, address))
  );
}

function isWithin(cidr: string, address: string): boolean {
  const [network = "", bits = ""] = cidr.split("/");
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  if (isIPv6(network) !== (family === "ipv6")) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(address, family);
}
