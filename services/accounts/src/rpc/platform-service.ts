import type { ServiceImpl } from "@connectrpc/connect";
import type { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { PLATFORM_IDS } from "@postrider/platforms/registry";
import type { Deps } from "#src/rpc/deps.ts";

/** The table of contents of PlatformService, whose one answer is what the configuration says. */
export function createPlatformService({ connectors }: Pick<Deps, "connectors">) {
  const platforms = PLATFORM_IDS.map((platform) =>
    connectors[platform] === undefined
      ? { platform, available: false, unavailableReason: "not_configured" }
      : { platform, available: true },
  );
  return {
    listPlatforms: () => ({ platforms }),
  } satisfies ServiceImpl<typeof PlatformService>;
}
