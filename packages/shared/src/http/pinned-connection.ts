import { connect, isIPv6, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { OutboundError } from "#src/http/outbound-exchange.ts";
import { mayConnect, type OutboundRules } from "#src/http/outbound-rules.ts";

/** A host name with its checked addresses, or a checked IP address. */
export interface PinnedTarget {
  readonly hostname: string;
  /** The host name is not resolved again. */
  readonly addresses: readonly string[];
  readonly port: number;
  readonly tls: boolean;
}

export interface ConnectOptions extends OutboundRules {
  readonly connectMs: number;
  readonly signal: AbortSignal;
  /** PEM; trusted instead of what Node trusts by itself. */
  readonly ca: string | undefined;
}

const NEXT_ADDRESS_MS = 1000;

/** Per IP version, because a name may have any number of addresses. */
const MAX_ADDRESSES_PER_FAMILY = 2;

/**
 * Connects to a checked address and to nothing else: the name is not resolved again, so that the
 * DNS cannot answer otherwise after the check (DNS rebinding). TLS verifies the name. The remote
 * address of the socket is checked once more before a byte is sent.
 *
 * @throws OutboundError `unreachable`
 */
export async function connectPinned(
  target: PinnedTarget,
  options: ConnectOptions,
): Promise<Socket | TLSSocket> {
  const closing: Socket[] = [];
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error("the connection was not accepted in time")),
    options.connectMs,
  );
  const onAbort = () => reject(options.signal.reason as Error);
  options.signal.addEventListener("abort", onAbort);
  try {
    options.signal.throwIfAborted();
    const opening = open(target, options, closing);
    opening.catch(() => undefined);
    return await Promise.race([opening, ended]);
  } catch (error) {
    for (const socket of closing) socket.destroy();
    throw new OutboundError("unreachable", { cause: error });
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", onAbort);
  }
}

async function open(
  target: PinnedTarget,
  { ca, ...rules }: ConnectOptions,
  opened: Socket[],
): Promise<Socket | TLSSocket> {
  const socket = connect({
    host: target.hostname,
    port: target.port,
    lookup: pinnedLookup(target.addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    noDelay: true,
  });
  opened.push(socket);
  await connected(socket, "connect");
  const { remoteAddress = "" } = socket;
  if (!mayConnect(rules, remoteAddress, target.port))
    throw new Error("the socket is connected to an address that is not allowed");
  if (!target.tls) return socket;
  const secured = connectTls({
    socket,
    // For an IP address, TLS sends no name, and the certificate must be issued for the address.
    ...(target.addresses.includes(target.hostname) ? {} : { servername: target.hostname }),
    host: target.hostname,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  });
  opened.push(secured);
  await connected(secured, "secureConnect");
  return secured;
}

function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const families = [4, 6].map((family) =>
    addresses
      .filter((address) => isIPv6(address) === (family === 6))
      .slice(0, MAX_ADDRESSES_PER_FAMILY)
      .map((address) => ({ address, family })),
  );
  return (_hostname, _options, callback) => callback(null, families.flat());
}

/** Resolves when the socket is connected, and rejects when it fails or closes before. */
async function connected(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(event, resolve);
  // Until undici adds a listener, a socket error would end the process.
  socket.on("error", reject);
  socket.once("close", () => reject(new Error("closed")));
  await promise;
}
