import type { PlatformAvailability } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";

/**
 * Lists all platforms in the order of the API contract. A platform that the answer of the accounts
 * service lacks counts as not configured. How Postrider prevents double posts on a platform, and
 * which rules no official documentation confirms, are left out.
 */
export function toPlatforms(availability: readonly PlatformAvailability[]) {
  const known = new Map(availability.map((entry) => [entry.platform, entry]));
  return PLATFORM_IDS.map((id) => {
    const {
      displayName,
      id: _id,
      idempotency: _,
      verifyLive: __,
      ...rules
    } = PLATFORM_FACTS[id].rules;
    const available = known.get(id)?.available ?? false;
    const unavailableReason = available
      ? null
      : (known.get(id)?.unavailableReason ?? "not_configured");
    return { id, name: displayName, available, unavailableReason, rules };
  });
}
