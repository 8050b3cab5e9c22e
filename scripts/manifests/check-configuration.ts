import { hasSetting } from "./addresses.ts";
import { readEnvironment } from "./environment.ts";
import {
  containersOf,
  type Manifest,
  nameOf,
  ofKind,
  serviceOf,
  type Workload,
  workloadsOf,
} from "./manifest.ts";

/**
 * The hash with which kustomize ends the name of a generated ConfigMap or Secret. A ConfigMap or Secret with other content gets
 * another name, so that a change of its content restarts the pods.
 */
const HASHED = /-[2456789bcdfghkmt]{10}$/;

/**
 * Finds ConfigMaps and Secrets whose change would not restart the pods that read them. In an overlay for production, also finds
 * Secrets that lie in the repository, and settings that are meant for trials.
 */
export function checkConfiguration(
  overlay: string,
  manifests: readonly Manifest[],
): readonly string[] {
  const workloads = workloadsOf(manifests).map((workload) => ({
    where: workload.where,
    isJob: workload.kind === "Job",
    sources: sourcesOf(workload),
  }));
  const readersOf = (source: string) => workloads.filter(({ sources }) => sources.includes(source));
  const missed = ["ConfigMap", "Secret"]
    .flatMap((kind) => ofKind(manifests, kind))
    .filter(({ kind, metadata }) => {
      if (HASHED.test(metadata.name)) return false;
      const readers = readersOf(`${kind}/${metadata.name}`);
      const jobs = readers.filter(({ isJob }) => isJob);
      // A Kubernetes Job has to read ConfigMaps and Secrets whose names have no hash. If other pods read the same
      // Secret, the operator must restart these pods after a change of the Secret.
      return jobs.length === 0 || (kind === "ConfigMap" && jobs.length < readers.length);
    })
    .map((source) => `${nameOf(source)} has no hash in its name: a change restarts no pod`);
  const immutable = workloads
    .filter(({ isJob }) => isJob)
    .flatMap(({ where, sources }) =>
      sources
        .filter((source) => HASHED.test(source))
        .map((source) => `${where} reads ${source}: a Job cannot be changed when the hash does`),
    );
  return [...missed, ...immutable, ...(overlay === "local" ? [] : productionFaults(manifests))];
}

/** Lists the ConfigMaps and Secrets that a pod reads, as `kind/name`. */
function sourcesOf(workload: Workload): readonly string[] {
  const containers = containersOf(workload);
  const found = [
    ...containers
      .flatMap(({ envFrom = [] }) => envFrom)
      .map((one) => [one.configMapRef, one.secretRef]),
    ...containers
      .flatMap(({ env = [] }) => env)
      .map(({ valueFrom }) => [valueFrom?.configMapKeyRef, valueFrom?.secretKeyRef]),
    ...(workload.pod.volumes ?? []).map(({ configMap, secret }) => [
      configMap,
      secret && { name: secret.secretName },
    ]),
  ];
  return found.flatMap(([configMap, secret]) => [
    ...(configMap === undefined ? [] : [`ConfigMap/${configMap.name}`]),
    ...(secret === undefined ? [] : [`Secret/${secret.name}`]),
  ]);
}

function productionFaults(manifests: readonly Manifest[]): readonly string[] {
  const services = workloadsOf(manifests).filter((one) => serviceOf(one) !== undefined);
  return [
    ...ofKind(manifests, "Secret").map((secret) => `${nameOf(secret)} is in the repository`),
    ...services
      .filter((service) =>
        containersOf(service).some((container) => {
          const { variables } = readEnvironment(container, manifests);
          return variables.get("POSTRIDER_ENV")?.value !== "production";
        }),
      )
      .map(({ where }) => `${where}: POSTRIDER_ENV is not production`),
    ...services
      .filter((service) => hasSetting(service, "OUTBOUND_ALLOW", manifests))
      .map(({ where }) => `${where}: OUTBOUND_ALLOW opens private addresses`),
  ];
}
