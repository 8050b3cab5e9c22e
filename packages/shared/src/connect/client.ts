import type { DescMethodUnary, DescService } from "@bufbuild/protobuf";
import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { Pool } from "undici";
import { createLeanTransport } from "#src/connect/lean-transport.ts";
import { CONNECT_TIMEOUT_MS } from "#src/connect/try-connections.ts";
import { toServiceError } from "#src/errors/connect.ts";
import type { OwnIdentity } from "#src/identity/settings.ts";
import { createIdentitySource } from "#src/identity/token-source.ts";

/** Maximum number of open calls of one process to one service. Further calls wait. */
export const MAX_CALLS_IN_FLIGHT = 64;

/**
 * Decides whose call is next, because the calls in flight are few and a call can be long. The
 * permit is released when the call ends.
 *
 * @throws ServiceError that the call ends with.
 */
export type CallPermits = (method: DescMethodUnary) => Promise<Disposable>;

export interface ClientOptions {
  readonly baseUrl: string;
  /** The identity tokens that are sent to it are valid for no other service. */
  readonly service: string;
  readonly identity: OwnIdentity;
  readonly timeoutMs?: number;
  /** An older connection is replaced after its current call. Default: 30 s. */
  readonly connectionMs?: number;
  readonly permits?: CallPermits;
}

/** All clients for a service share one connection pool, and a failed call throws `ServiceError`. */
export interface Peer extends AsyncDisposable {
  client<T extends DescService>(service: T): Client<T>;
  /** Fails the calls in flight and all later ones with `unavailable`. */
  abortCalls(): Promise<void>;
}

/** An interceptor cannot do this, because Connect wraps whatever it throws. */
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

/** Empty when a public authority signs the certificates. */
export function toTls({ ca }: OwnIdentity): { readonly connect?: { readonly ca: string } } {
  return ca === undefined ? {} : { connect: { ca } };
}

/** Over HTTP/1.1. */
export function connectPeer(options: ClientOptions): Peer {
  const { baseUrl, timeoutMs = 10_000, connectionMs = 30_000 } = options;
  const identity = createIdentitySource(options.identity, options.service);
  // Several connections, because behind a ClusterIP each is assigned to one pod.
  const pool = new Pool(new URL(baseUrl).origin, {
    connections: MAX_CALLS_IN_FLIGHT,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connectTimeout: CONNECT_TIMEOUT_MS,
    ...toTls(options.identity),
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
