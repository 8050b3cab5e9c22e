import { connect, isIPv6, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { AllowedAddress } from "#src/http/allowed-addresses.ts";
import { OutboundError } from "#src/http/outbound-error.ts";
import { mayConnect } from "#src/http/outbound-url.ts";

/** Where to connect: a name and the addresses that were checked for it, or a literal that was. */
export interface PinnedTarget {
  readonly hostname: string;
  /** Every one was checked; never asked for again. */
  readonly addresses: readonly string[];
  readonly port: number;
  readonly tls: boolean;
}

export interface ConnectOptions {
  readonly allow: readonly AllowedAddress[];
  readonly connectMs: number;
  readonly signal: AbortSignal;
  /** Certificates to trust instead of Node's, in PEM. */
  readonly ca: string | undefined;
}

/** An address that does not answer is given up for the next one after this time. */
const NEXT_ADDRESS_MS = 1000;

/** A name with a thousand addresses must not make us knock at each. */
const MAX_ADDRESSES_PER_FAMILY = 2;

/**
 * Connects to one of the checked addresses and to nothing else: the name is not resolved again, so that another answer of
 * its name server comes too late. TLS proves the name, not the address. What the socket says it is connected to is
 * checked once more before a byte is sent.
 *
 * @throws OutboundError `unreachable`.
 */
export async function connectPinned(
  target: PinnedTarget,
  options: ConnectOptions,
): Promise<Socket | TLSSocket> {
  const closing: Socket[] = [];
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("no connection in time")), options.connectMs);
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
  { allow, ca }: ConnectOptions,
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
  if (!mayConnect(allow, remoteAddress, target.port)) throw new Error("connected elsewhere");
  if (!target.tls) return socket;
  const secured = connectTls({
    socket,
    // A literal has no name to ask for; the certificate must then be for the address.
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

/** Settles with the first of its connection, its failure and its end. */
async function connected(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(event, resolve);
  // Stays: undici attaches its own later, and an error without a listener ends the process.
  socket.on("error", reject);
  socket.once("close", () => reject(new Error("closed")));
  await promise;
}
