import { checkSecrets } from "./check-secrets.ts";
import { readEnvironment } from "./environment.ts";
import {
  containersOf,
  type Manifest,
  nameOf,
  ofKind,
  referencesOf,
  type Workload,
  workloadsOf,
} from "./manifest.ts";
import { isService } from "./services.ts";

/** A generated name ends with a hash of what it holds, in the signs of kustomize, so that a change starts new pods. */
const HASHED = /-[2456789bcdfghkmt]{10}$/;

/** Each setting that would not reach pods that run, or could not be changed, and everything that production must not have. */
export function checkConfiguration(
  overlay: string,
  manifests: readonly Manifest[],
): readonly string[] {
  const unhashed = ["ConfigMap", "Secret"]
    .flatMap((kind) => ofKind(manifests, kind))
    .filter(({ metadata }) => !HASHED.test(metadata.name))
    .filter((manifest) => !isForJobs(manifest, workloadsOf(manifests)))
    .map((manifest) => `${nameOf(manifest)} can change without a new pod`);
  const faults = [...unhashed, ...jobFaults(manifests)];
  return overlay === "local" ? faults : [...faults, ...productionFaults(manifests)];
}

/** Jobs read it and, if it is a ConfigMap, nobody else: Secrets are restarted after by hand, as those of operators are. */
function isForJobs({ kind, metadata }: Manifest, workloads: readonly Workload[]): boolean {
  const readers = workloads.filter((workload) =>
    referencesOf(workload).some((one) => one.kind === kind && one.name === metadata.name),
  );
  const jobs = readers.filter((reader) => reader.kind === "Job");
  return jobs.length > 0 && (kind === "Secret" || jobs.length === readers.length);
}

/** The pods of a Job cannot be changed, so `kubectl apply` fails when a name in them does. */
function jobFaults(manifests: readonly Manifest[]): readonly string[] {
  return workloadsOf(manifests)
    .filter(({ kind }) => kind === "Job")
    .flatMap((job) =>
      referencesOf(job)
        .filter(({ name }) => HASHED.test(name))
        .map(({ kind, name }) => `Job/${job.name} cannot follow the hash of ${kind}/${name}`),
    );
}

function productionFaults(manifests: readonly Manifest[]): readonly string[] {
  const environments = workloadsOf(manifests)
    .filter(({ name }) => isService(name))
    .flatMap((workload) =>
      containersOf(workload).map((container) => ({
        name: workload.name,
        variables: readEnvironment(container, manifests).variables,
      })),
    );
  return [
    ...checkSecrets(manifests),
    ...ofKind(manifests, "Secret").map((secret) => `${nameOf(secret)} is in the repository`),
    ...environments
      .filter(({ variables }) => variables.get("POSTRIDER_ENV")?.value !== "production")
      .map(({ name }) => `Deployment/${name} does not know that it is production`),
    ...environments
      .filter(({ variables }) => variables.has("OUTBOUND_ALLOW"))
      .map(({ name }) => `Deployment/${name} lets private addresses through`),
  ];
}
