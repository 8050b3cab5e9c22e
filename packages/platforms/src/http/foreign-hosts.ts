import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import { createPublicConnector } from "@postrider/shared/http/public-connector";

/** Maximum time in milliseconds to open a connection to a platform. */
export const CONNECT_TIMEOUT_MS = 5000;

let rules: OutboundRules = { allow: [] };

/**
 * Sets to which addresses this process connects for hosts that the owners of accounts choose, such as Bluesky servers of their
 * own. A service calls it once at its start. Without it, every public address is allowed.
 */
export function limitForeignHosts(outbound: OutboundRules): void {
  rules = outbound;
}

/** Connects this process to hosts that the owners of accounts choose. */
export const connectForeign = createPublicConnector({
  connectMs: CONNECT_TIMEOUT_MS,
  rules: () => rules,
});
