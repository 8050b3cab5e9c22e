import type { buildConnector } from "undici";
import { OutboundError } from "#src/http/outbound-error.ts";
import { mayConnect, type OutboundRules } from "#src/http/outbound-rules.ts";
import { parseOutboundUrl, type OutboundUrl } from "#src/http/outbound-url.ts";
import { connectPinned } from "#src/http/pinned-connection.ts";
import { createNameResolver, type ResolveName } from "#src/http/resolver.ts";

export interface PublicConnectorOptions {
  readonly connectMs: number;
  /** Returns the rules for the addresses to which a new connection may lead. Default: every public address. */
  readonly rules?: () => OutboundRules;
  readonly resolve?: ResolveName;
  /** Certificate authorities in PEM. They are trusted instead of those that Node trusts by itself. */
  readonly ca?: string;
}

/**
 * Creates the `connect` option of an undici `Agent` or `Client` that connects only to public addresses and to those
 * that the rules allow, whatever the DNS answers. Use it for a host that a platform returns but a customer can choose, so that the host cannot lead into
 * our network.
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

/** Resolves all addresses of a host name. @throws `address_not_allowed` if the rules refuse one of them. */
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
