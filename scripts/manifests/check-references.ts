import { TOPICS } from "../../packages/shared/src/bus/topics.ts";
import { isService, SERVICES, settingsOf } from "../services/settings.ts";
import type { ServiceSpec } from "./addresses.ts";
import {
  type Labels,
  type Manifest,
  matches,
  nameOf,
  ofKind,
  portsOf,
  serviceOf,
  type Workload,
  workloadsOf,
} from "./manifest.ts";

interface AutoscalerSpec {
  readonly scaleTargetRef: { readonly name: string };
  readonly minReplicas?: number;
  readonly maxReplicas: number;
  readonly metrics?: readonly unknown[];
}

/** Of KEDA, which makes an autoscaler from it. */
interface ScaledObjectSpec {
  readonly scaleTargetRef: { readonly name: string };
  readonly minReplicaCount?: number;
  readonly maxReplicaCount: number;
  readonly triggers: readonly unknown[];
}

interface RouteSpec {
  readonly parentRefs: readonly {
    readonly name: string;
    readonly namespace?: string;
    readonly sectionName?: string;
  }[];
  readonly rules: readonly {
    readonly backendRefs?: readonly { readonly name: string; readonly port: number }[];
  }[];
}

interface GatewaySpec {
  readonly listeners: readonly { readonly name: string }[];
}

/** A group cannot use more consumers, so an autoscaler must not start more pods. */
const PARTITIONS = 12;

export function checkReferences(
  overlay: string,
  manifests: readonly Manifest[],
): readonly string[] {
  return [
    ...ofKind<ServiceSpec>(manifests, "Service").flatMap((one) => checkService(one, manifests)),
    ...autoscalersOf(manifests).flatMap((one) => checkAutoscaler(one, manifests)),
    ...ofKind<RouteSpec>(manifests, "HTTPRoute").flatMap((one) => checkRoute(one, manifests)),
    ...checkBudgets(overlay, manifests),
    ...checkAccounts(manifests),
    ...checkTopics(manifests),
    ...checkNamespace(manifests),
    ...checkEmptyLists(manifests),
  ];
}

/** One workload, and the ports on which its pods listen. The addresses in settings rely on both. */
function checkService(
  service: Manifest<ServiceSpec>,
  manifests: readonly Manifest[],
): readonly string[] {
  const { selector = {}, ports = [] } = service.spec ?? {};
  const selected = workloadsOf(manifests).filter(({ labels }) => matches(labels, selector));
  const [target] = selected;
  if (target === undefined || selected.length > 1)
    return [`${nameOf(service)} selects the pods of ${selected.length} workloads instead of one`];
  return ports.flatMap(({ port, targetPort = port }) =>
    portsOf(target).some(
      ({ name, containerPort }) =>
        containerPort === port && (name === targetPort || port === targetPort),
    )
      ? []
      : [`${nameOf(service)}: port ${port} leads to ${targetPort}, where no container has ${port}`],
  );
}

function autoscalersOf(manifests: readonly Manifest[]): readonly Manifest<AutoscalerSpec>[] {
  const scaled = ofKind<ScaledObjectSpec>(manifests, "ScaledObject").flatMap(
    ({ spec, ...rest }) => {
      if (spec === undefined) return [];
      const { scaleTargetRef, minReplicaCount: minReplicas = 0, triggers: metrics } = spec;
      const { maxReplicaCount: maxReplicas } = spec;
      return [{ ...rest, spec: { scaleTargetRef, minReplicas, maxReplicas, metrics } }];
    },
  );
  return [...ofKind<AutoscalerSpec>(manifests, "HorizontalPodAutoscaler"), ...scaled];
}

function checkAutoscaler(
  autoscaler: Manifest<AutoscalerSpec>,
  manifests: readonly Manifest[],
): readonly string[] {
  const { scaleTargetRef, minReplicas = 1, maxReplicas = 0, metrics = [] } = autoscaler.spec ?? {};
  const scaled = workloadsOf(manifests).find(({ name }) => name === scaleTargetRef?.name);
  if (scaled === undefined) return [`${nameOf(autoscaler)} scales nothing`];
  const service = serviceOf(scaled);
  const isConsumer =
    service !== undefined &&
    settingsOf(service).some((setting) => setting.name === "KAFKA_BROKERS");
  const faults = {
    [`allows more pods than the ${PARTITIONS} partitions of a topic`]:
      isConsumer && maxReplicas > PARTITIONS,
    // A service stops with the node of its only pod.
    "keeps a single pod": minReplicas < 2,
    // An autoscaler without metrics aims at 80 % of the requested CPU, which the services exceed
    // even when idle.
    "has no metrics": metrics.length === 0,
    // Each `kubectl apply` would undo what the autoscaler did.
    [`scales ${scaled.where}, which sets its number of replicas`]: scaled.replicas !== undefined,
  };
  return Object.entries(faults).flatMap(([fault, isFault]) =>
    isFault ? [`${nameOf(autoscaler)} ${fault}`] : [],
  );
}

/** A controller reports what is missing in the status of the route only. */
function checkRoute(route: Manifest<RouteSpec>, manifests: readonly Manifest[]): readonly string[] {
  const { parentRefs = [], rules = [] } = route.spec ?? {};
  const listeners = ofKind<GatewaySpec>(manifests, "Gateway").flatMap(({ metadata, spec }) =>
    (spec?.listeners ?? []).map(({ name }) => `${metadata.name} ${name}`),
  );
  const ports = ofKind<ServiceSpec>(manifests, "Service").flatMap(({ metadata, spec }) =>
    (spec?.ports ?? []).map(({ port }) => `${metadata.name}:${port}`),
  );
  const backends = rules.flatMap(({ backendRefs = [] }) => backendRefs);
  return [
    ...parentRefs
      // The Gateway of another namespace is not in the overlay.
      .filter(({ namespace }) => namespace === undefined)
      .map(({ name, sectionName }) => `${name} ${sectionName}`)
      .filter((listener) => !listeners.includes(listener))
      .map((listener) => `no Gateway has the listener ${listener}`),
    ...backends
      .map(({ name, port }) => `${name}:${port}`)
      .filter((backend) => !ports.includes(backend))
      .map((backend) => `leads to ${backend}, which no Service has`),
  ].map((fault) => `${nameOf(route)}: ${fault}`);
}

interface BudgetSpec {
  readonly selector: { readonly matchLabels?: Labels };
  readonly maxUnavailable?: number;
}

/** With `minAvailable` or `maxUnavailable: 0`, Kubernetes could never move a single pod. */
function checkBudgets(overlay: string, manifests: readonly Manifest[]): readonly string[] {
  const budgets = ofKind<BudgetSpec>(manifests, "PodDisruptionBudget");
  const isCovered = ({ labels }: Workload) =>
    budgets.some(({ spec }) => matches(labels, spec?.selector.matchLabels ?? {}));
  return [
    ...budgets
      .filter(({ spec }) => spec?.maxUnavailable !== 1)
      .map((budget) => `${nameOf(budget)} does not allow one pod at a time to leave its node`),
    ...workloadsOf(manifests)
      .filter((one) => overlay !== "local" && serviceOf(one) !== undefined && !isCovered(one))
      .map(({ where }) => `${where} has no PodDisruptionBudget`),
  ];
}

function checkAccounts(manifests: readonly Manifest[]): readonly string[] {
  const accounts = ofKind(manifests, "ServiceAccount").map(({ metadata }) => metadata.name);
  return workloadsOf(manifests)
    .filter(({ pod }) => !accounts.includes(pod.serviceAccountName ?? ""))
    .map(({ where }) => `${where} has no ServiceAccount of this overlay`);
}

/** The code publishes to each topic, and a consumer group is named after its service. */
function checkTopics(manifests: readonly Manifest[]): readonly string[] {
  const known = new Set<string>(TOPICS);
  const named = JSON.stringify(manifests).matchAll(/(?:\b([a-z]+)\.)?\b([a-z]+\.events\.v\d+)\b/g);
  return [...named].flatMap(([text, group = SERVICES[0] ?? "", topic = ""]) =>
    known.has(topic) && isService(group) ? [] : [`no service has the topic or group ${text}`],
  );
}

function checkNamespace(manifests: readonly Manifest[]): readonly string[] {
  const [namespace] = ofKind(manifests, "Namespace");
  const level = namespace?.metadata.labels?.["pod-security.kubernetes.io/enforce"];
  return [
    ...(level === "restricted" ? [] : ["the namespace does not enforce Pod Security `restricted`"]),
    ...manifests
      .filter(
        ({ kind, metadata }) =>
          kind !== "Namespace" && metadata.namespace !== namespace?.metadata.name,
      )
      .map((manifest) => `${nameOf(manifest)} is in another namespace`),
  ];
}

/**
 * The API server stores a policy without the list, so that each `kubectl apply` would change it,
 * and `kubectl diff` would never be empty. `policyTypes` alone denies everything.
 */
function checkEmptyLists(manifests: readonly Manifest[]): readonly string[] {
  return ofKind<object>(manifests, "NetworkPolicy").flatMap((policy) =>
    Object.entries(policy.spec ?? {})
      .filter(([, value]) => Array.isArray(value) && value.length === 0)
      .map(([name]) => `${nameOf(policy)}: ${name} is an empty list; leave it out`),
  );
}
