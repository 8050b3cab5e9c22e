import type { Authorization } from "@postrider/platforms/authorization/connector";
import type { ConfiguredPlatform } from "@postrider/platforms/authorization/registry";
import { isPlatformId, type PlatformId } from "@postrider/platforms/registry";
import { invalidRequest } from "@postrider/shared/errors";
import type { Deps } from "#src/rpc/deps.ts";

/** @throws ServiceError `invalid_request` when there is no such platform, or its app is not configured. */
export function getConfiguredPlatform(
  { connectors }: Pick<Deps, "connectors">,
  platform: string,
): ConfiguredPlatform & { readonly id: PlatformId } {
  const configured = isPlatformId(platform) ? connectors[platform] : undefined;
  if (configured === undefined || !isPlatformId(platform))
    throw invalidRequest([{ code: "not_configured", path: "/platform" }]);
  return { ...configured, id: platform };
}

/** @throws ServiceError `invalid_request` also when the platform has no authorization page. */
export function getAuthorization(deps: Pick<Deps, "connectors">, platform: string): Authorization {
  const { authorization } = getConfiguredPlatform(deps, platform).connector;
  if (authorization === undefined)
    throw invalidRequest([{ code: "not_available", path: "/platform" }]);
  return authorization;
}
