import { ROLES } from "../../services/delivery/src/config.ts";
import { readEnvironment } from "./environment.ts";
import { containersOf, type Manifest, serviceOf, workloadsOf } from "./manifest.ts";

/**
 * Finds parts of the delivery service's work that no process does: a process with `ROLE=publishing` sends no webhooks, and
 * one with `ROLE=webhooks` publishes no posts.
 */
export function checkRoles(manifests: readonly Manifest[]): readonly string[] {
  const roles = workloadsOf(manifests)
    .filter((workload) => serviceOf(workload) === "delivery")
    .flatMap(containersOf)
    .map(
      (container) => readEnvironment(container, manifests).variables.get("ROLE")?.value ?? "all",
    );
  return ROLES.filter((role) => role !== "all")
    .filter((role) => !roles.includes(role) && !roles.includes("all"))
    .map((role) => `no process of delivery has ROLE=${role} or ROLE=all`);
}
