import { BlockList, isIPv6 } from "node:net";
import { type Labels, type Manifest, matches, ofKind, portsOf, type Workload } from "./manifest.ts";

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

/** In the same namespace, in another one, or outside of the cluster. */
export type Endpoint =
  | { readonly pod: Workload }
  | { readonly namespace: string }
  | { readonly address: string };

/**
 * The port of a connection. `listener` is the pod that listens, if it is known; named ports are
 * looked up there.
 */
export interface Target {
  readonly port: number;
  readonly protocol?: "TCP" | "UDP";
  readonly listener?: Workload;
}

interface Rule {
  readonly peers: readonly Peer[];
  readonly ports: readonly Port[];
}

/** Kubernetes gives this label to every namespace, with its name as the value. */
const NAMESPACE = "kubernetes.io/metadata.name";

/**
 * Determines which connections the NetworkPolicies of an overlay allow in a cluster that enforces
 * them.
 */
export class Network {
  readonly #policies: readonly PolicySpec[];

  constructor(manifests: readonly Manifest[]) {
    this.#policies = ofKind<PolicySpec>(manifests, "NetworkPolicy").flatMap(
      ({ spec }) => spec ?? [],
    );
  }

  /** A pod that no NetworkPolicy selects allows every connection. */
  allows(direction: Direction, pod: Workload, other: Endpoint, target: Target): boolean {
    return this.#rules(direction, pod).some(
      ({ peers, ports }) =>
        (peers.length === 0 || peers.some((peer) => includes(peer, other))) &&
        (ports.length === 0 || ports.some((port) => opens(port, target))),
    );
  }

  namesClients(pod: Workload, port: number): boolean {
    return this.#rules("Ingress", pod).some(
      ({ peers, ports }) =>
        peers.some((peer) => peer.namespaceSelector ?? peer.ipBlock) &&
        ports.some((one) => opens(one, { port, listener: pod })),
    );
  }

  /** Each peer that may connect to a port, as JSON. Rules that name none are left out. */
  clients(pod: Workload, port: number): readonly string[] {
    return this.#rules("Ingress", pod)
      .filter(({ ports }) => ports.some((one) => opens(one, { port, listener: pod })))
      .flatMap(({ peers }) => peers.map((peer) => JSON.stringify(peer)));
  }

  namespaces(direction: Direction, pod: Workload, target: Target): readonly string[] {
    return this.#rules(direction, pod)
      .filter(({ ports }) => ports.some((port) => opens(port, target)))
      .flatMap(({ peers }) => peers)
      .flatMap(({ namespaceSelector }) => namespaceSelector?.matchLabels?.[NAMESPACE] ?? []);
  }

  /**
   * Lists the ports that NetworkPolicy rules open towards addresses outside of the cluster, as
   * `from-to`.
   */
  portsOutside(pod: Workload): readonly string[] {
    return this.#rules("Egress", pod)
      .filter(({ peers }) => peers.length === 0 || peers.some(({ ipBlock }) => ipBlock))
      .flatMap(({ ports }) => (ports.length === 0 ? [{}] : ports))
      .map((port) => rangeOf(port, undefined).join("-"));
  }

  /** A pod that no NetworkPolicy selects has one rule without limits. */
  #rules(direction: Direction, { labels }: Workload): readonly Rule[] {
    const selected = this.#policies.filter(
      ({ podSelector, policyTypes = ["Ingress"] }) =>
        selects(podSelector, labels) && policyTypes.includes(direction),
    );
    if (selected.length === 0) return [{ peers: [], ports: [] }];
    // In Kubernetes an empty list of peers or ports means all of them, like an absent list.
    return direction === "Ingress"
      ? selected.flatMap(({ ingress = [] }) =>
          ingress.map(({ from: peers = [], ports = [] }) => ({ peers, ports })),
        )
      : selected.flatMap(({ egress = [] }) =>
          egress.map(({ to: peers = [], ports = [] }) => ({ peers, ports })),
        );
  }
}

function includes({ podSelector, namespaceSelector, ipBlock }: Peer, other: Endpoint): boolean {
  if ("address" in other)
    return (
      ipBlock !== undefined &&
      isWithin(ipBlock.cidr, other.address) &&
      !ipBlock.except?.some((cidr) => isWithin(cidr, other.address))
    );
  if ("pod" in other)
    return (
      namespaceSelector === undefined &&
      podSelector !== undefined &&
      selects(podSelector, other.pod.labels)
    );
  return (
    namespaceSelector !== undefined && selects(namespaceSelector, { [NAMESPACE]: other.namespace })
  );
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    matches(labels, matchLabels) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator === "In") return values.includes(labels[key] ?? "");
      if (operator === "NotIn") return !values.includes(labels[key] ?? "");
      throw new Error(
        `a selector uses the operator ${operator}: teach network-policy.ts to read it`,
      );
    })
  );
}

function opens(rule: Port, { port, protocol = "TCP", listener }: Target): boolean {
  const [first, last] = rangeOf(rule, listener);
  return (rule.protocol ?? "TCP") === protocol && first <= port && port <= last;
}

function rangeOf({ port, endPort }: Port, listener: Workload | undefined): [number, number] {
  if (port === undefined) return [1, 65_535];
  const found = listener && portsOf(listener).find(({ name }) => name === port)?.containerPort;
  const first = typeof port === "number" ? port : (found ?? Number.NaN);
  return [first, endPort ?? first];
}

/** Results of `isWithin`, which the checks ask for the same few addresses again and again. */
const within = new Map<string, boolean>();

function isWithin(cidr: string, address: string): boolean {
  const question = `${cidr} ${address}`;
  const known = within.get(question);
  if (known !== undefined) return known;
  const [network = "", bits = ""] = cidr.split("/");
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  const list = new BlockList();
  if (isIPv6(network) === isIPv6(address)) list.addSubnet(network, Number(bits), family);
  const answer = list.check(address, family);
  within.set(question, answer);
  return answer;
}
