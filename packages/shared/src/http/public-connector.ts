import type { buildConnector } from "undici";
import type { AllowedAddress } from "#src/http/allowed-addresses.ts";
import { OutboundError } from "#src/http/outbound-error.ts";
import { mayConnect } from "#src/http/outbound-rules.ts";
import { parseOutboundUrl, type OutboundUrl } from "#src/http/outbound-url.ts";
import { connectPinned } from "#src/http/pinned-connection.ts";
import { createNameResolver, type ResolveName } from "#src/http/resolver.ts";

export interface PublicConnectorOptions {
  readonly connectMs: number;
  /** Private addresses to which connections are allowed. Default: none. */
  readonly allow?: readonly AllowedAddress[];
  readonly resolve?: ResolveName;
  /** Certificate authorities in PEM, which replace the authorities of Node. */
  readonly ca?: string;
}

/**
 * Creates the `connect` option of an undici `Agent` or `Client` that connects only to public addresses, whatever the
 * DNS answers. Use it for a host that a platform returns but a customer can choose, so that the host cannot lead into
 * our network.
 */
export function createPublicConnector({
  connectMs,
  allow = [],
  resolve = createNameResolver(),
  ca,
}: PublicConnectorOptions): buildConnector.connector {
  return ({ protocol, hostname, port }, callback) => {
    const signal = AbortSignal.timeout(connectMs);
    const opening = async () => {
      const named =
        hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
      const target = parseOutboundUrl(`${protocol}//${named}${port === "" ? "" : `:${port}`}`, {
        allow,
      });
      const addresses = await addressesOf(target, { allow, resolve, signal });
      const tls = target.url.protocol === "https:";
      return await connectPinned({ ...target, addresses, tls }, { allow, connectMs, signal, ca });
    };
    opening().then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}

interface LookUp {
  readonly allow: readonly AllowedAddress[];
  readonly resolve: ResolveName;
  readonly signal: AbortSignal;
}

/** Resolves all addresses of a host name. @throws `address_not_allowed` if one of them is not public. */
async function addressesOf(
  { hostname, isLiteral, port }: OutboundUrl,
  { allow, resolve, signal }: LookUp,
): Promise<readonly string[]> {
  if (isLiteral) return [hostname];
  const addresses = await resolve(hostname, signal);
  if (!addresses.every((address) => mayConnect({ allow }, address, port)))
    throw new OutboundError("address_not_allowed");
  return addresses;
}
