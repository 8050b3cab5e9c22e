import type { ConfiguredPlatform } from "@postrider/platforms/authorization/configure";
import type { AuthorizationCodeFlow } from "@postrider/platforms/authorization/connector";
import { isPlatformId, PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { invalidRequest } from "@postrider/shared/errors";
import type { Dependencies } from "#src/operations/dependencies.ts";

/**
 * Returns the platform's connector if our app on the platform is configured.
 *
 * @throws ServiceError `invalid_request` when the platform is unknown or our app on it is not
 *   configured.
 */
export function getConfiguredPlatform(
  { connectors }: Pick<Dependencies, "connectors">,
  platform: string,
): ConfiguredPlatform {
  if (!isPlatformId(platform))
    throw invalidRequest([
      { code: "unknown_platform", path: "/platform", allowed: [...PLATFORM_IDS] },
    ]);
  const configured = connectors[platform];
  if (configured === undefined)
    throw invalidRequest([{ code: "not_configured", path: "/platform" }]);
  return configured;
}

/**
 * Returns the authorization-code flow of a platform.
 *
 * @throws ServiceError `invalid_request` when the platform is unknown, our app on it is not
 *   configured, or it has no authorization page.
 */
export function getAuthorizationFlow(
  deps: Pick<Dependencies, "connectors">,
  platform: string,
): AuthorizationCodeFlow {
  const { codeFlow } = getConfiguredPlatform(deps, platform).connector;
  if (codeFlow === undefined) throw invalidRequest([{ code: "not_available", path: "/platform" }]);
  return codeFlow;
}
