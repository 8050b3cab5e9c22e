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
