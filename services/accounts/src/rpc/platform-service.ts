import type { ServiceImpl } from "@connectrpc/connect";
import type { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import type { Dependencies } from "#src/operations/dependencies.ts";

export function createPlatformService({ connectors }: Pick<Dependencies, "connectors">) {
  const platforms = PLATFORM_IDS.map((platform) =>
    connectors[platform] === undefined
      ? { platform, available: false, unavailableReason: "not_configured" }
      : { platform, available: true },
  );
  return {
    listPlatforms: () => ({ platforms }),
  } satisfies ServiceImpl<typeof PlatformService>;
}
