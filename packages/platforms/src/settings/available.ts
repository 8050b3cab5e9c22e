import type { PlatformId } from "#src/registry.ts";
import { createTiktokAvailableReader } from "#src/tiktok/available.ts";
import type { AvailableReader } from "./available-reader.ts";

/** The readers of the platforms whose offer depends on the account; the others are missing. */
export type AvailableReaders = Readonly<Partial<Record<PlatformId, AvailableReader>>>;

export function createAvailableReaders(settings: {
  readonly tiktok: { readonly baseUrl: string };
}): AvailableReaders {
  return { tiktok: createTiktokAvailableReader(settings.tiktok.baseUrl) };
}
