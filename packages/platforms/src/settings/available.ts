import type { JsonObject } from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { PlatformId } from "#src/registry.ts";
import { createTiktokAvailableReader } from "#src/tiktok/available.ts";

/** What a platform offers an account now, as the REST API returns it, or why it is not known. */
export type AvailableReading =
  | { readonly kind: "available"; readonly values: JsonObject }
  | { readonly kind: "failed"; readonly message: string };

/** Asks the platform what it offers an account now. */
export type AvailableReader = (
  account: AccountAccess,
  signal: AbortSignal,
) => Promise<AvailableReading>;

/** The readers of the platforms whose offer depends on the account; the others are missing. */
export type AvailableReaders = Readonly<Partial<Record<PlatformId, AvailableReader>>>;

export function createAvailableReaders(settings: {
  readonly tiktok: { readonly baseUrl: string };
}): AvailableReaders {
  return { tiktok: createTiktokAvailableReader(settings.tiktok.baseUrl) };
}
