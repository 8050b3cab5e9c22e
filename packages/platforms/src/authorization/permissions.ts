/** Features besides publishing for which some platforms want permissions of their own. */
export const PLATFORM_FEATURES = ["comments", "messages", "metrics"] as const;

export type PlatformFeature = (typeof PLATFORM_FEATURES)[number];

/** The permissions (scopes) of a platform by the feature that needs them. A feature that is absent needs no further one. */
export interface PermissionsByFeature extends Partial<
  Readonly<Record<PlatformFeature, readonly string[]>>
> {
  /** Permissions for identifying the account, publishing, and deleting what was published. */
  readonly publishing: readonly string[];
}

/**
 * Lists the permissions to ask for. A person grants or refuses them together, and platforms refuse the whole authorization
 * when our app lacks one of them, so only those of the features that are in use are listed.
 */
export function listPermissions(
  { publishing, ...others }: PermissionsByFeature,
  features: readonly PlatformFeature[],
): readonly string[] {
  return [...new Set([...publishing, ...features.flatMap((feature) => others[feature] ?? [])])];
}
