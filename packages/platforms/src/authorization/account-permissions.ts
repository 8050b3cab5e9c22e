import { PERMISSIONS as FACEBOOK } from "#src/facebook/authorization.ts";
import { PERMISSIONS as INSTAGRAM } from "#src/instagram/authorization.ts";
import { PERMISSIONS as INSTAGRAM_LOGIN } from "#src/instagram/instagram-login.ts";
import { PLATFORMS, type PlatformId } from "#src/registry.ts";
import type { PlatformRules } from "#src/rules.ts";
import { PERMISSIONS as TIKTOK } from "#src/tiktok/authorization.ts";
import { PERMISSIONS as X } from "#src/x/authorization.ts";
import { PERMISSIONS as YOUTUBE } from "#src/youtube/authorization.ts";
import {
  listMissingEssentials,
  listPermissions,
  PLATFORM_FEATURES,
  type PermissionsByFeature,
  type PlatformFeature,
} from "./permissions.ts";

/** What an account can be used for: publishing, or one of the features with permissions of their own. */
export type AccountFeature = "publishing" | PlatformFeature;

/** The permissions of an account, compared with those that the installation asks for. */
export interface AccountPermissions {
  /** Features that the platform has and that the account may be used for. */
  readonly granted: readonly AccountFeature[];
  /** Features that are turned on, and for which the account has to be connected again. */
  readonly missing: readonly AccountFeature[];
  /** The permissions that the installation asks for and that were not granted, by the platform's names. */
  readonly missingScopes: readonly string[];
}

/** The permissions of each platform; a platform whose accounts always have all permissions is absent. */
const PERMISSIONS: Readonly<Partial<Record<PlatformId, PermissionsByFeature>>> = {
  instagram: INSTAGRAM,
  x: X,
  facebook: FACEBOOK,
  tiktok: TIKTOK,
  youtube: YOUTUBE,
};

/** Prefix of the permissions of Instagram Login; the permissions of Facebook Login for Instagram do not have it. */
const INSTAGRAM_LOGIN_PREFIX = "instagram_business_";

function permissionsOf(
  platform: PlatformId,
  scopes: readonly string[],
): PermissionsByFeature | undefined {
  const isInstagramLogin =
    platform === "instagram" && scopes.some((scope) => scope.startsWith(INSTAGRAM_LOGIN_PREFIX));
  return isInstagramLogin ? INSTAGRAM_LOGIN : PERMISSIONS[platform];
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
 * Compares the permissions of an account with those that the installation asks for.
 *
 * @param scopes The permissions that were granted when the account was connected; null when that was not recorded.
 * @param features The features that the installation has turned on.
 * @returns Undefined when the permissions of the account are not known.
 */
export function describePermissions(
  platform: PlatformId,
  scopes: readonly string[] | null,
  features: readonly PlatformFeature[],
): AccountPermissions | undefined {
  const rules: PlatformRules = PLATFORMS[platform];
  const supported = PLATFORM_FEATURES.filter((feature) => isSupported(rules, feature));
  if (PERMISSIONS[platform] === undefined)
    return { granted: ["publishing", ...supported], missing: [], missingScopes: [] };
  const permissions = scopes === null ? undefined : permissionsOf(platform, scopes);
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
