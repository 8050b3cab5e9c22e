import type { PlatformId } from "#src/registry.ts";

/** Why a platform was not asked to take our permission back; the words of the interface. */
export type RevocationReason =
  | "app_wide_grant"
  | "not_verified"
  | "not_configured"
  | "already_disconnected";

/** What a disconnect may say of the platform's side. `unconfirmed` = we asked, whatever was answered. */
export type Revocation =
  | { readonly outcome: "unconfirmed" }
  | { readonly outcome: "not_attempted"; readonly reason: RevocationReason };

/** `tokens` = only what we hold ends; `grant` = everything that the person ever approved for our app ends. */
type Reach = { readonly ends: "tokens" | "grant" } | { readonly reason: RevocationReason };

/** Which platforms are asked (platforms reference 0.3). */
const REACHES = {
  instagram: { reason: "app_wide_grant" },
  x: { ends: "tokens" },
  facebook: { reason: "app_wide_grant" },
  tiktok: { ends: "grant" },
  youtube: { ends: "grant" },
  telegram: { reason: "not_verified" },
  bluesky: { ends: "tokens" },
} as const satisfies Record<PlatformId, Reach>;

/**
 * Why the platform must not be asked; undefined when it is to be asked.
 *
 * @param isShared Whether another connection stands on the same approval.
 */
export function reasonNotToRevoke(
  platform: PlatformId,
  isShared: boolean,
): RevocationReason | undefined {
  const reach: Reach = REACHES[platform];
  if ("reason" in reach) return reach.reason;
  return isShared && reach.ends === "grant" ? "app_wide_grant" : undefined;
}
