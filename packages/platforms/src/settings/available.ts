import type { PlatformId } from "#src/registry.ts";
import { createTiktokAvailableReader } from "#src/tiktok/available.ts";
import type { AvailableReader } from "./available-reader.ts";

/**
 * The functions that ask platforms which values an account may choose from. A platform where these values do not depend
 * on the account has no such function.
 */
export type AvailableReaders = Readonly<Partial<Record<PlatformId, AvailableReader>>>;

export function createAvailableReaders(settings: {
  readonly tiktok: { readonly baseUrl: string };
}): AvailableReaders {
  return { tiktok: createTiktokAvailableReader(settings.tiktok.baseUrl) };
}
