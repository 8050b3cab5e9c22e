import { readEnvironment } from "./environment.ts";
import {
  containersOf,
  type Labels,
  type Manifest,
  matches,
  ofKind,
  ownImage,
  type Workload,
  workloadsOf,
} from "./manifest.ts";

/** Settings with addresses that browsers open; no pod connects to these addresses. */
const FOR_BROWSERS = /^(?:PUBLIC_URL|S3_PUBLIC_ENDPOINT|SIMULATOR_PUBLIC_URL)$/;

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "postgres:": 5432,
};

export interface ServiceSpec {
  readonly selector?: Labels;
  readonly ports: readonly {
    readonly name: string;
    readonly port: number;
    readonly targetPort?: number | string;
  }[];
}

export interface Address {
  readonly setting: string;
  readonly host: string;
  readonly port: number;
}

function variablesOf(workload: Workload, manifests: readonly Manifest[]) {
  return containersOf(workload)
    .filter(({ image }) => ownImage(image) !== undefined)
    .flatMap((container) => [...readEnvironment(container, manifests).variables]);
}

export function hasSetting(
  workload: Workload,
  setting: string,
  manifests: readonly Manifest[],
): boolean {
  return variablesOf(workload, manifests).some(([name]) => name === setting);
}

export function addressesOf(
  workload: Workload,
  manifests: readonly Manifest[],
): readonly Address[] {
  return variablesOf(workload, manifests).flatMap(([setting, { value }]) => {
    if (FOR_BROWSERS.test(setting)) return [];
    if (setting === "KAFKA_BROKERS")
      return value.split(",").map((broker) => {
        const [host = "", port = ""] = broker.split(":");
        return { setting, host, port: Number(port) };
      });
    const url = /^\w+:\/\//.test(value) ? URL.parse(value) : null;
    if (url === null) return [];
    const port = Number(url.port || DEFAULT_PORTS[url.protocol]);
    return [{ setting, host: url.hostname, port }];
  });
}

/** To pods (as `name:port`), to no Service of the namespace, or outside of it. */
export type Destination =
  | { readonly kind: "pods"; readonly pods: readonly string[] }
  | { readonly kind: "unknown" }
  | { readonly kind: "outside" };

export function resolveAddress(
  { host, port }: Address,
  manifests: readonly Manifest[],
): Destination {
  if (host.includes(".")) return { kind: "outside" };
  const service = ofKind<ServiceSpec>(manifests, "Service").find(
    ({ metadata, spec }) => metadata.name === host && spec?.ports.some((one) => one.port === port),
  );
  const selector = service?.spec?.selector;
  if (selector === undefined) return { kind: "unknown" };
  const selected = workloadsOf(manifests).filter(({ labels }) => matches(labels, selector));
  return { kind: "pods", pods: selected.map(({ name }) => `${name}:${port}`) };
}
