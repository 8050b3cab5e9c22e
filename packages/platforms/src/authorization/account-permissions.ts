import type { PlatformRules } from "#src/rules.ts";
import type { PlatformAuthorization } from "./configure.ts";
import {
  listMissingEssentials,
  listPermissions,
  PLATFORM_FEATURES,
  type PermissionsByFeature,
  type PlatformFeature,
} from "./permissions.ts";

/** Publishing, or one of the features with permissions of their own. */
export type AccountFeature = "publishing" | PlatformFeature;

export interface AccountPermissions {
  readonly granted: readonly AccountFeature[];
  readonly missing: readonly AccountFeature[];
  readonly missingScopes: readonly string[];
}

interface PermissionRules {
  readonly rules: PlatformRules;
  readonly authorization: Pick<PlatformAuthorization<never>, "permissions">;
}

/** The way in which the account was connected: the last one of which it has a permission. */
function permissionsOf(
  ways: readonly PermissionsByFeature[],
  granted: readonly string[],
): PermissionsByFeature | undefined {
  const isUsed = (way: PermissionsByFeature) =>
    listPermissions(way, PLATFORM_FEATURES).some((permission) => granted.includes(permission));
  return ways.findLast(isUsed) ?? ways[0];
}

function isSupported({ comments, dm, metrics }: PlatformRules, feature: PlatformFeature): boolean {
  switch (feature) {
    case "comments":
      return comments.list;
    case "messages":
      return dm.supported;
    case "metrics":
      return metrics.supported;
  }
}

/**
 * Undefined when the permissions of the account are not known. `scopes` is null when they were not
 * recorded.
 */
export function describePermissions(
  { rules, authorization: { permissions: ways } }: PermissionRules,
  scopes: readonly string[] | null,
  features: readonly PlatformFeature[],
): AccountPermissions | undefined {
  const supported = PLATFORM_FEATURES.filter((feature) => isSupported(rules, feature));
  if (ways === undefined)
    return { granted: ["publishing", ...supported], missing: [], missingScopes: [] };
  const permissions = scopes === null ? undefined : permissionsOf(ways, scopes);
  if (scopes === null || permissions === undefined) return undefined;
  const has = (permission: string) => scopes.includes(permission);
  const isGranted = (feature: AccountFeature) =>
    feature === "publishing"
      ? listMissingEssentials(permissions, scopes).length === 0
      : (permissions[feature] ?? []).every(has);
  const wanted = supported.filter((feature) => features.includes(feature));
  return {
    granted: (["publishing", ...supported] as const).filter(isGranted),
    missing: (["publishing", ...wanted] as const).filter((feature) => !isGranted(feature)),
    missingScopes: listPermissions(permissions, wanted).filter((scope) => !has(scope)),
  };
}
