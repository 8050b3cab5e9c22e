import type { JsonObject } from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

/**
 * The values that the platform lets an account choose from for its posts now, such as TikTok's privacy levels, as the
 * REST API returns them; or why they are not known.
 */
export type AvailableReading =
  | { readonly kind: "available"; readonly values: JsonObject }
  | { readonly kind: "failed"; readonly message: string };

/** Asks the platform which values it lets an account choose from for its posts now. */
export type AvailableReader = (
  account: AccountAccess,
  signal: AbortSignal,
) => Promise<AvailableReading>;
