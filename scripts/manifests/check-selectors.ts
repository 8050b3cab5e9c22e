import { TOPICS } from "../../packages/shared/src/bus/open.ts";
import {
  type Labels,
  type Manifest,
  matches,
  nameOf,
  ofKind,
  type Workload,
  workloadsOf,
} from "./manifest.ts";
import { SERVICES, settingsOf } from "./services.ts";

interface ServiceSpec {
  readonly selector?: Labels;
  readonly ports: readonly { readonly port: number; readonly targetPort?: number | string }[];
}

interface BudgetSpec {
  readonly maxUnavailable?: number;
  readonly selector: { readonly matchLabels: Labels };
}

interface AutoscalerSpec {
  readonly scaleTargetRef: { readonly kind: string; readonly name: string };
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** Each has its target under the name of its type. */
  readonly metrics?: readonly Readonly<
    Record<string, string | { readonly target?: MetricTarget }>
  >[];
}

interface MetricTarget {
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number;
}

interface IngressSpec {
  readonly rules: readonly {
    readonly http: {
      readonly paths: readonly {
        readonly backend: {
          readonly service: { readonly name: string; readonly port: { readonly name: string } };
        };
      }[];
    };
  }[];
}

/** The topics have as many partitions, and a consumer beyond that has nothing to do. */
const PARTITIONS = 12;

/** Each name or selector that leads to nothing, or to more than it should. */
export function checkSelectors(overlay: string, manifests: readonly Manifest[]): readonly string[] {
  const workloads = workloadsOf(manifests);
  return [
    ...checkWorkloads(workloads),
    ...ofKind(manifests, "Service").flatMap((service) => checkService(service, workloads)),
    ...checkBudgets(manifests, workloads),
    ...checkAutoscalers(overlay, manifests, workloads),
    ...checkIngresses(manifests),
    ...checkAccounts(manifests, workloads),
    ...checkTopics(manifests),
    ...checkNamespace(manifests),
  ];
}

function selectedBy(workloads: readonly Workload[], selector: Labels): readonly Workload[] {
  return workloads.filter(({ labels }) => matches(labels, selector));
}

function checkWorkloads(workloads: readonly Workload[]): readonly string[] {
  return workloads.flatMap(({ kind, name, selector }) => {
    if (selector === undefined) return [];
    const selected = selectedBy(workloads, selector).map((workload) => workload.name);
    return selected.join() === name
      ? []
      : [`${kind}/${name} selects the pods of: ${selected.join(", ")}`];
  });
}

function checkService(service: Manifest, workloads: readonly Workload[]): readonly string[] {
  const { selector = {}, ports } = service.spec as ServiceSpec;
  const selected = selectedBy(workloads, selector);
  const [target] = selected;
  if (target === undefined || selected.length > 1)
    return [`${nameOf(service)} selects the pods of ${selected.length} workloads`];
  const declared = target.pod.containers.flatMap((container) => container.ports ?? []);
  return ports.flatMap(({ port, targetPort = port }) => {
    const found = declared.find(
      ({ name, containerPort }) => name === targetPort || containerPort === targetPort,
    );
    if (found === undefined) return [`${nameOf(service)}: no container has the port ${targetPort}`];
    return found.containerPort === port
      ? []
      : [`${nameOf(service)}: port ${port} is ${found.containerPort} inside`];
  });
}

function checkBudgets(
  manifests: readonly Manifest[],
  workloads: readonly Workload[],
): readonly string[] {
  const budgets = ofKind(manifests, "PodDisruptionBudget");
  const guarded = budgets.map((budget) => {
    const { maxUnavailable, selector } = budget.spec as BudgetSpec;
    const names = selectedBy(workloads, selector.matchLabels).map(({ name }) => name);
    return { budget, maxUnavailable, names };
  });
  return [
    ...guarded
      .filter(({ names }) => names.length !== 1)
      .map(
        ({ budget, names }) => `${nameOf(budget)} selects the pods of ${names.length} workloads`,
      ),
    // With a smallest number a single pod could never be moved off its node.
    ...guarded
      .filter(({ maxUnavailable }) => maxUnavailable !== 1)
      .map(({ budget }) => `${nameOf(budget)} lets other than one pod go at a time`),
    ...SERVICES.filter((service) => !guarded.some(({ names }) => names.includes(service))).map(
      (service) => `Deployment/${service} has no PodDisruptionBudget`,
    ),
  ];
}

function checkAutoscalers(
  overlay: string,
  manifests: readonly Manifest[],
  workloads: readonly Workload[],
): readonly string[] {
  const autoscalers = ofKind(manifests, "HorizontalPodAutoscaler").map((autoscaler) => ({
    name: nameOf(autoscaler),
    ...(autoscaler.spec as AutoscalerSpec),
  }));
  const faults = autoscalers.flatMap((autoscaler) => {
    const { name, scaleTargetRef, minReplicas, maxReplicas, metrics } = autoscaler;
    const target = manifests.find(
      ({ kind, metadata }) => kind === scaleTargetRef.kind && metadata.name === scaleTargetRef.name,
    );
    if (target === undefined) return [`${name} scales nothing`];
    const fixed = (target.spec as { readonly replicas?: number }).replicas;
    const isConsumer = settingsOfTarget(scaleTargetRef.name).has("KAFKA_BROKERS");
    return [
      ...(fixed === undefined ? [] : [`${name}: its target says itself how many it is`]),
      ...(minReplicas >= 2 && maxReplicas >= minReplicas
        ? []
        : [`${name} keeps ${minReplicas} pods`]),
      ...(isConsumer && maxReplicas > PARTITIONS ? [`${name} makes pods without a partition`] : []),
      ...(hasSignals(metrics) ? [] : [`${name} does not say what it goes by`]),
    ];
  });
  if (overlay === "local") return faults;
  const scaled = autoscalers.map(({ scaleTargetRef }) => scaleTargetRef.name);
  const spread = workloads.filter(({ pod }) => pod.topologySpreadConstraints?.length === 2);
  return [
    ...faults,
    ...SERVICES.filter((service) => !scaled.includes(service)).map(
      (service) => `Deployment/${service} has no HorizontalPodAutoscaler`,
    ),
    ...SERVICES.filter((service) => !spread.some(({ name }) => name === service)).map(
      (service) => `Deployment/${service} is not spread over nodes and zones`,
    ),
  ];
}

/** Without metrics Kubernetes scales by 80 % of the processor that is requested, which ours pass at rest. */
function hasSignals(metrics: AutoscalerSpec["metrics"] = []): boolean {
  const targets = metrics.map((metric) =>
    Object.values(metric).flatMap((source) =>
      typeof source === "string" ? [] : (source.target ?? []),
    ),
  );
  return (
    targets.length > 0 &&
    targets.every((found) =>
      found.some(
        ({ value, averageValue, averageUtilization }) =>
          (value ?? averageValue ?? averageUtilization) !== undefined,
      ),
    )
  );
}

function settingsOfTarget(name: string): ReadonlySet<string> {
  const service = SERVICES.find((one) => one === name);
  return new Set(service === undefined ? [] : settingsOf(service).map((setting) => setting.name));
}

function checkIngresses(manifests: readonly Manifest[]): readonly string[] {
  const services = ofKind(manifests, "Service");
  return ofKind(manifests, "Ingress").flatMap((ingress) =>
    (ingress.spec as IngressSpec).rules
      .flatMap(({ http }) => http.paths.map(({ backend }) => backend.service))
      .filter(({ name, port }) => {
        const found = services.find(({ metadata }) => metadata.name === name);
        const ports = (found?.spec as { readonly ports?: readonly { readonly name: string }[] })
          ?.ports;
        return !ports?.some((one) => one.name === port.name);
      })
      .map(
        ({ name, port }) => `${nameOf(ingress)} leads to ${name}:${port.name}, which is not there`,
      ),
  );
}

function checkAccounts(
  manifests: readonly Manifest[],
  workloads: readonly Workload[],
): readonly string[] {
  const accounts = new Set(
    ofKind(manifests, "ServiceAccount").map(({ metadata }) => metadata.name),
  );
  return workloads
    .filter(({ pod }) => !accounts.has(pod.serviceAccountName ?? ""))
    .map(({ kind, name }) => `${kind}/${name} has no ServiceAccount of its own`);
}

/** A topic that is named somewhere is one of those that the code has, and its group the one that Kafka knows. */
function checkTopics(manifests: readonly Manifest[]): readonly string[] {
  const known = new Set<string>(TOPICS);
  const named = JSON.stringify(manifests).matchAll(/(?:\b([a-z]+)\.)?\b([a-z]+\.events\.v\d+)\b/g);
  return [...named].flatMap(([text, group = SERVICES[0], topic = ""]) =>
    known.has(topic) && SERVICES.some((service) => service === group)
      ? []
      : [`${text} is no topic or group of ours`],
  );
}

function checkNamespace(manifests: readonly Manifest[]): readonly string[] {
  const [namespace] = ofKind(manifests, "Namespace");
  const level = namespace?.metadata.labels?.["pod-security.kubernetes.io/enforce"];
  return [
    ...(level === "restricted" ? [] : ["the namespace does not hold its pods to `restricted`"]),
    ...manifests
      .filter(
        ({ kind, metadata }) =>
          kind !== "Namespace" && metadata.namespace !== namespace?.metadata.name,
      )
      .map((manifest) => `${nameOf(manifest)} is in another namespace`),
  ];
}
