import type { DescMethodUnary, DescService } from "@bufbuild/protobuf";
import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { Pool } from "undici";
import { createLeanTransport } from "#src/connect/lean-transport.ts";
import { toServiceError } from "#src/errors/connect.ts";
import type { OwnIdentity } from "#src/identity/settings.ts";
import { createIdentitySource } from "#src/identity/token-source.ts";

/** Maximum number of calls to one service that a process has in flight; further calls wait. */
export const MAX_CALLS_IN_FLIGHT = 64;

/**
 * Returns a permit for a call, or waits for one. It decides whose call is next, because the calls in flight are few and a call can
 * be long. The permit is released when the call ends.
 *
 * @throws ServiceError that the call ends with.
 */
export type CallPermits = (method: DescMethodUnary) => Promise<Disposable>;

export interface ClientOptions {
  /** Base address of the called service, for example `http://posts:8082`. */
  readonly baseUrl: string;
  /** Name of the called service. The identity tokens that are sent to it are valid for no other service. */
  readonly service: string;
  readonly identity: OwnIdentity;
  /** Deadline of an RPC, unless the request that makes the RPC has an earlier deadline. Default: 10 s. */
  readonly timeoutMs?: number;
  /**
   * Maximum age in milliseconds of a connection between services. An older connection is closed after its current call,
   * and a new one is opened. Default: 30 s.
   */
  readonly connectionMs?: number;
  /** Default: the calls are sent in the order in which they are made. */
  readonly permits?: CallPermits;
}

/**
 * A service that this process calls. All clients for this service share one connection pool, and a failed call throws
 * `ServiceError`.
 */
export interface Peer extends AsyncDisposable {
  client<T extends DescService>(service: T): Client<T>;
  /** Makes every call to the service fail with `unavailable`: the calls in flight and all later calls. */
  abortCalls(): Promise<void>;
}

/**
 * Wraps a Connect transport so that failed RPCs throw `ServiceError`. An interceptor inside the transport cannot do
 * this, because Connect wraps whatever an interceptor throws.
 */
export function withServiceErrors(transport: Transport): Transport {
  const unary: Transport["unary"] = async (...call) => {
    try {
      return await transport.unary(...call);
    } catch (error) {
      throw toServiceError(error);
    }
  };
  return { unary, stream: (...call) => transport.stream(...call) };
}

function withPermits(transport: Transport, permits: CallPermits): Transport {
  const unary: Transport["unary"] = async (method, ...call) => {
    using _permit = await permits(method);
    return await transport.unary(method, ...call);
  };
  return { unary, stream: (...call) => transport.stream(...call) };
}

/** The options of undici's connections for calls over TLS; empty when a public authority signs the certificates. */
export function toTls({ ca }: OwnIdentity): { readonly connect?: { readonly ca: string } } {
  return ca === undefined ? {} : { connect: { ca } };
}

/** Creates RPC clients for one of our services over HTTP/1.1. */
export function connectPeer(options: ClientOptions): Peer {
  const { baseUrl, timeoutMs = 10_000, connectionMs = 30_000 } = options;
  const identity = createIdentitySource(options.identity, options.service);
  // Opens several connections to a service, because behind a ClusterIP each connection is assigned to one pod.
  const pool = new Pool(new URL(baseUrl).origin, {
    connections: MAX_CALLS_IN_FLIGHT,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connectTimeout: 2_000,
    ...toTls(options.identity),
    // After this time, a connection to another service is replaced. A connection stays with its pod, so a new pod
    // receives calls only over new connections. The server's `maxRequestsPerSocket` may close the connection earlier.
    clientTtl: connectionMs,
  });
  const lean = withServiceErrors(
    createLeanTransport({ baseUrl, identity, timeoutMs, dispatcher: pool }),
  );
  const transport = options.permits === undefined ? lean : withPermits(lean, options.permits);
  return {
    client: (service) => createClient(service, transport),
    abortCalls: () => pool.destroy(),
    [Symbol.asyncDispose]: async () => {
      if (!pool.destroyed) await pool.close();
    },
  };
}
