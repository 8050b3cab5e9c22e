import type { DescService } from "@bufbuild/protobuf";
import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { Pool } from "undici";
import { createLeanTransport } from "#src/connect/lean-transport.ts";
import { toServiceError } from "#src/errors/connect.ts";

export interface ClientOptions {
  /** Base address of the service, for example `http://posts:8082`. */
  readonly baseUrl: string;
  readonly internalSecret: string;
  /** Deadline of a call that is part of no request with a nearer one. Default 10 s. */
  readonly timeoutMs?: number;
  /** A connection this old is given up after its call. Default 30 s. */
  readonly connectionMs?: number;
}

/** Clients of one peer share one pool of kept-alive connections. Failures of calls are `ServiceError`s. */
export interface Peer extends AsyncDisposable {
  client<T extends DescService>(service: T): Client<T>;
  /** Fails every call that is under way, and all later ones, as if the peer were gone. */
  giveUp(): Promise<void>;
}

/** Outside of the client, because Connect turns whatever a transport's interceptor throws into its own error. */
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

/** Opens the way to one of our services over HTTP/1.1. */
export function connectPeer(options: ClientOptions): Peer {
  const { baseUrl, internalSecret, timeoutMs = 10_000, connectionMs = 30_000 } = options;
  // Many connections rather than one: behind a ClusterIP each connection picks a pod of its own.
  const pool = new Pool(new URL(baseUrl).origin, {
    connections: 64,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connectTimeout: 2_000,
    // A connection stays with its pod, so a new pod gets calls only as old connections end: after this time, or after
    // the server's `maxRequestsPerSocket`, whichever is first.
    clientTtl: connectionMs,
  });
  const transport = withServiceErrors(
    createLeanTransport({ baseUrl, internalSecret, timeoutMs, dispatcher: pool }),
  );
  return {
    client: (service) => createClient(service, transport),
    giveUp: () => pool.destroy(),
    [Symbol.asyncDispose]: async () => {
      if (!pool.destroyed) await pool.close();
    },
  };
}
