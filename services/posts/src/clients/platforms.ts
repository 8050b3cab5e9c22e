import type { Client } from "@connectrpc/connect";
import type { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";

/** Knows which platforms this installation can publish to. */
export interface PlatformDirectory {
  listAvailable(): Promise<ReadonlySet<string>>;
}

/** It changes when an operator restarts accounts with other credentials. */
const FRESH_MS = 5_000;

/** Asks the accounts service at most every 5 seconds; while it asks, everyone waits for the one answer. */
export function createPlatformDirectory(client: Client<typeof PlatformService>): PlatformDirectory {
  let known: { readonly platforms: ReadonlySet<string>; readonly until: number } | undefined;
  let asking: Promise<ReadonlySet<string>> | undefined;
  const ask = async (): Promise<ReadonlySet<string>> => {
    try {
      const answer = await client.listPlatforms({});
      const available = answer.platforms.filter((platform) => platform.available);
      const platforms = new Set(available.map(({ platform }) => platform));
      known = { platforms, until: performance.now() + FRESH_MS };
      return platforms;
    } finally {
      asking = undefined;
    }
  };
  return {
    listAvailable: () => {
      if (known !== undefined && performance.now() < known.until)
        return Promise.resolve(known.platforms);
      return (asking ??= ask());
    },
  };
}
