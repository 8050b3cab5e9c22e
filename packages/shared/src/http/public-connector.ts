import type { buildConnector } from "undici";
import { OutboundError } from "#src/http/outbound-exchange.ts";
import {
  mayConnect,
  type OutboundRules,
  type OutboundUrl,
  parseOutboundUrl,
} from "#src/http/outbound-rules.ts";
import { connectPinned } from "#src/http/pinned-connection.ts";
import { createNameResolver, type ResolveName } from "#src/http/resolver.ts";

export interface PublicConnectorOptions {
  readonly connectMs: number;
  readonly rules?: () => OutboundRules;
  readonly resolve?: ResolveName;
  /** PEM; trusted instead of what Node trusts by itself. */
  readonly ca?: string;
}

/**
 * The `connect` option of an undici `Agent` or `Client`, for a host that a customer can choose,
 * as with webhooks and with addresses that a platform returns: it cannot lead into our network,
 * whatever the DNS answers.
 */
export function createPublicConnector({
  connectMs,
  rules: readRules = () => ({ allow: [] }),
  resolve = createNameResolver(),
  ca,
}: PublicConnectorOptions): buildConnector.connector {
  return ({ protocol, hostname, port }, callback) => {
    const signal = AbortSignal.timeout(connectMs);
    const opening = async () => {
      const named =
        hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
      const rules = readRules();
      const url = `${protocol}//${named}${port === "" ? "" : `:${port}`}`;
      const target = parseOutboundUrl(url, rules);
      const addresses = await addressesOf(target, { rules, resolve, signal });
      const tls = target.url.protocol === "https:";
      return await connectPinned(
        { ...target, addresses, tls },
        { ...rules, connectMs, signal, ca },
      );
    };
    opening().then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}

interface LookUp {
  readonly rules: OutboundRules;
  readonly resolve: ResolveName;
  readonly signal: AbortSignal;
}

async function addressesOf(
  { hostname, isLiteral, port }: OutboundUrl,
  { rules, resolve, signal }: LookUp,
): Promise<readonly string[]> {
  if (isLiteral) return [hostname];
  const addresses = await resolve(hostname, signal);
  if (!addresses.every((address) => mayConnect(rules, address, port)))
    throw new OutboundError("address_not_allowed", { isResolved: true });
  return addresses;
}
