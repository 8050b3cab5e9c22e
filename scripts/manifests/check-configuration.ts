import { readEnvironment } from "./environment.ts";
import { containersOf, type Manifest, nameOf, ofKind, workloadsOf } from "./manifest.ts";
import { isService } from "./services.ts";

/** A generated name ends with a hash of what it holds, so that a change starts new pods. */
const HASHED = /-[a-z0-9]{10}$/;

/** Each setting that would not reach pods that run, and everything that production must not have. */
export function checkConfiguration(
  overlay: string,
  manifests: readonly Manifest[],
): readonly string[] {
  const unhashed = ["ConfigMap", "Secret"]
    .flatMap((kind) => ofKind(manifests, kind))
    .filter(({ metadata }) => !HASHED.test(metadata.name))
    .map((manifest) => `${nameOf(manifest)} can change without a new pod`);
  return overlay === "local" ? unhashed : [...unhashed, ...productionFaults(manifests)];
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
    ...ofKind(manifests, "Secret").map((secret) => `${nameOf(secret)} is in the repository`),
    ...environments
      .filter(({ variables }) => variables.get("POSTRIDER_ENV")?.value !== "production")
      .map(({ name }) => `Deployment/${name} does not know that it is production`),
    ...environments
      .filter(({ variables }) => variables.has("OUTBOUND_ALLOW"))
      .map(({ name }) => `Deployment/${name} lets private addresses through`),
  ];
}
