import { isAllowed } from "@postrider/shared/http/addresses";
import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import { createPublicConnector } from "@postrider/shared/http/public-connector";

/** Maximum time in milliseconds to open a connection to a platform. */
export const CONNECT_TIMEOUT_MS = 5000;

let rules: OutboundRules = { allow: [] };

/**
 * Sets to which addresses this process connects for hosts that the owners of accounts choose, such
 * as Bluesky servers of their own. A service calls it once at its start. Without this call, every
 * public address is allowed.
 */
export function limitForeignHosts(outbound: OutboundRules): void {
  rules = outbound;
}

/**
 * Opens connections to hosts that the owners of accounts choose, such as Bluesky servers of their
 * own.
 */
export const connectForeign = createPublicConnector({
  connectMs: CONNECT_TIMEOUT_MS,
  rules: () => rules,
});

/**
 * Whether a host that the owner of an account chose may be called at all: with HTTPS, or with HTTP
 * at an address that `OUTBOUND_ALLOW` names. Which addresses a name may have is checked when a
 * connection is opened.
 */
export function mayCallForeign({ protocol, hostname, port }: URL): boolean {
  if (protocol === "https:") return true;
  return protocol === "http:" && isAllowed(rules.allow, hostname, Number(port === "" ? 80 : port));
}
