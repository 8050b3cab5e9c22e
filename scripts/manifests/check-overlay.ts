import { checkConfiguration } from "./check-configuration.ts";
import { checkEnvironment } from "./check-environment.ts";
import { checkNetwork } from "./check-network.ts";
import { checkPods } from "./check-pods.ts";
import { checkSelectors } from "./check-selectors.ts";
import type { Manifest } from "./manifest.ts";
import { checkSchema } from "./schema.ts";

/** Everything that is wrong with what an overlay renders to. The one named `local` is for trying out, others are for real. */
export function checkManifests(overlay: string, manifests: readonly Manifest[]): readonly string[] {
  const malformed = checkSchema(manifests);
  // The other checks take for granted that objects are what they say.
  if (malformed.length > 0) return malformed;
  return [
    ...checkSelectors(overlay, manifests),
    ...checkPods(manifests),
    ...checkEnvironment(manifests),
    ...checkConfiguration(overlay, manifests),
    ...checkNetwork(manifests),
  ];
}
