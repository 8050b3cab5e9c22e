import type { AvailableReader } from "#src/settings/available-reader.ts";
import { fetchCreatorInfo, toAvailable } from "./publishing/creator-info.ts";

export function createTiktokAvailableReader(baseUrl: string): AvailableReader {
  return async (account, signal) => {
    const creator = await fetchCreatorInfo({ baseUrl, account, signal });
    return "kind" in creator
      ? { kind: "failed", message: creator.message }
      : { kind: "available", values: toAvailable(creator) };
  };
}
