import type { DescService } from "@bufbuild/protobuf";
import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { Pool } from "undici";
import { createLeanTransport } from "#src/connect/lean-transport.ts";
import { toServiceError } from "#src/errors/connect.ts";
import type { OwnIdentity } from "#src/identity/settings.ts";
import { createIdentitySource } from "#src/identity/token-source.ts";

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
    connections: 64,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connectTimeout: 2_000,
    ...toTls(options.identity),
    // After this time, a connection to another service is replaced. A connection stays with its pod, so a new pod
    // receives calls only over new connections. The server's `maxRequestsPerSocket` may close the connection earlier.
    clientTtl: connectionMs,
  });
  const transport = withServiceErrors(
    createLeanTransport({ baseUrl, identity, timeoutMs, dispatcher: pool }),
  );
  return {
    client: (service) => createClient(service, transport),
    abortCalls: () => pool.destroy(),
    [Symbol.asyncDispose]: async () => {
      if (!pool.destroyed) await pool.close();
    },
  };
}
