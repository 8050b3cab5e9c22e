import type { PlatformRules } from "#src/rules.ts";

/** Features besides publishing for which some platforms want permissions of their own. */
export const PLATFORM_FEATURES = ["comments", "messages", "metrics"] as const;

export type PlatformFeature = (typeof PLATFORM_FEATURES)[number];

/** A feature that is absent needs no further permission. */
export interface PermissionsByFeature extends Partial<
  Readonly<Record<PlatformFeature, readonly string[]>>
> {
  readonly publishing: readonly string[];
  /**
   * The permissions in `publishing` without which no post can be published; absent = all of them.
   */
  readonly essential?: readonly string[];
}

/** Without them an account cannot publish. */
export function listMissingEssentials(
  { publishing, essential = publishing }: PermissionsByFeature,
  granted: readonly string[],
): readonly string[] {
  return essential.filter((permission) => !granted.includes(permission));
}

export function splitPermissions(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((permission) => permission !== "");
}

/**
 * Lists the permissions to ask for. A person grants or refuses them together, and platforms refuse
 * the whole authorization when our app lacks one of them, so only those of the features that are in
 * use are listed.
 */
export function listPermissions(
  permissions: PermissionsByFeature,
  features: readonly PlatformFeature[],
): readonly string[] {
  const others = features.flatMap((feature) => permissions[feature] ?? []);
  return [...new Set([...permissions.publishing, ...others])];
}

/** Publishing, or one of the features with permissions of their own. */
type AccountFeature = "publishing" | PlatformFeature;

export interface AccountPermissions {
  readonly granted: readonly AccountFeature[];
  readonly missing: readonly AccountFeature[];
  readonly missingScopes: readonly string[];
}

interface PermissionRules {
  readonly rules: PlatformRules;
  readonly authorization: { readonly permissions: readonly PermissionsByFeature[] | undefined };
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
