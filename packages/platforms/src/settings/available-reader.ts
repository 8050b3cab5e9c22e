import type { JsonObject } from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

/** What a platform offers an account now, as the REST API returns it, or why it is not known. */
export type AvailableReading =
  | { readonly kind: "available"; readonly values: JsonObject }
  | { readonly kind: "failed"; readonly message: string };

/** Asks the platform what it offers an account now. */
export type AvailableReader = (
  account: AccountAccess,
  signal: AbortSignal,
) => Promise<AvailableReading>;
