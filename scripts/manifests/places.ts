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

/** These lead people's browsers, on their own machine. */
const FOR_BROWSERS = /^(?:PUBLIC_URL|S3_PUBLIC_ENDPOINT|SIMULATOR_PUBLIC_URL)$/;

interface ServiceSpec {
  readonly selector?: Labels;
  readonly ports: readonly { readonly port: number }[];
}

/** A place that a process is told of. */
export interface Place {
  readonly setting: string;
  readonly host: string;
  readonly port: number;
}

/** Where the settings of a pod's processes lead. */
export function placesOf(workload: Workload, manifests: readonly Manifest[]): readonly Place[] {
  return containersOf(workload)
    .filter(({ image }) => ownImage(image) !== undefined)
    .flatMap((container) => [...readEnvironment(container, manifests).variables])
    .flatMap(([setting, { value }]) => toPlaces(setting, value));
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "postgres:": 5432,
};

function toPlaces(setting: string, value: string): readonly Place[] {
  if (FOR_BROWSERS.test(setting)) return [];
  if (setting === "KAFKA_BROKERS") {
    return value.split(",").map((broker) => {
      const [host = "", port = ""] = broker.split(":");
      return { setting, host, port: Number(port) };
    });
  }
  const url = /^\w+:\/\//.test(value) ? URL.parse(value) : null;
  if (url === null) return [];
  const port = url.port === "" ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
  return [{ setting, host: url.hostname, port }];
}

/** The ways that lead to a place, none if there is no such Service; undefined when it is outside of the cluster. */
export function resolvePlace(
  { host, port }: Place,
  manifests: readonly Manifest[],
): readonly string[] | undefined {
  if (host.includes(".")) return undefined;
  const service = ofKind(manifests, "Service").find(({ metadata }) => metadata.name === host);
  const { selector = {}, ports = [] } = (service?.spec ?? {}) as Partial<ServiceSpec>;
  if (service === undefined || !ports.some((one) => one.port === port)) return [];
  return workloadsOf(manifests)
    .filter(({ labels }) => matches(labels, selector))
    .map(({ name }) => `${name}:${port}`);
}
