import { readEnvironment } from "./environment.ts";
import { containersOf, type Manifest, serviceOf, workloadsOf } from "./manifest.ts";

/**
 * Finds work of the delivery service that no process does: processes with `ROLE=publishing` send no webhooks, and processes with
 * `ROLE=webhooks` publish nothing.
 */
export function checkRoles(manifests: readonly Manifest[]): readonly string[] {
  const roles = workloadsOf(manifests)
    .filter((workload) => serviceOf(workload) === "delivery")
    .flatMap(containersOf)
    .map(
      (container) => readEnvironment(container, manifests).variables.get("ROLE")?.value ?? "all",
    );
  return ["publishing", "webhooks"]
    .filter((role) => !roles.includes(role) && !roles.includes("all"))
    .map((role) => `no process of delivery has ROLE=${role} or ROLE=all`);
}
