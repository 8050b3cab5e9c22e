import { parseAllDocuments } from "yaml";
import { checkConfiguration } from "./check-configuration.ts";
import { checkEnvironment } from "./check-environment.ts";
import { checkInspector } from "./check-inspector.ts";
import { checkKafkaUsers } from "./check-kafka-users.ts";
import { checkNetwork } from "./check-network.ts";
import { checkPods } from "./check-pods.ts";
import { checkReferences } from "./check-references.ts";
import { checkRoles } from "./check-roles.ts";
import type { Manifest } from "./manifest.ts";
import { checkPractices, checkSchema } from "./tools.ts";

/**
 * Finds the mistakes in a rendered Kubernetes overlay. The overlay named `local` is for trials; every other overlay is
 * for production.
 */
export function checkOverlay(overlay: string, rendered: string): readonly string[] {
  const malformed = checkSchema(rendered);
  // All other checks of this function rely on the fields of the Kubernetes objects, so they run only if all objects are
  // valid.
  if (malformed.length > 0) return malformed;
  return [
    ...checkPractices(overlay, rendered),
    ...compareWithCode(overlay, parseManifests(rendered)),
  ];
}

/**
 * Lists the mistakes that kubeconform and kube-score cannot find: where manifests differ from the code or from each
 * other.
 */
export function compareWithCode(
  overlay: string,
  manifests: readonly Manifest[],
): readonly string[] {
  return [
    ...checkReferences(manifests),
    ...checkPods(overlay, manifests),
    ...checkEnvironment(manifests),
    ...checkConfiguration(overlay, manifests),
    ...checkRoles(manifests),
    ...checkKafkaUsers(manifests),
    ...checkNetwork(manifests),
    ...checkInspector(manifests),
  ];
}

/** Parses the Kubernetes objects of a rendered overlay. */
export function parseManifests(rendered: string): readonly Manifest[] {
  return parseAllDocuments(rendered).map((document) => document.toJS() as Manifest);
}
