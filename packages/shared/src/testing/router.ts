import {
  createClient,
  createRouterTransport,
  type ConnectRouter,
  type Transport,
} from "@connectrpc/connect";
import type { Peer } from "#src/connect/client.ts";
import { createServerErrorInterceptor, toServiceError } from "#src/errors/connect.ts";
import { createLogger, type Logger } from "#src/logger.ts";

/**
 * A peer in memory: the same routes, encoding and mapping of errors as over the network, without sockets, so that tests
 * run the real RPC handlers. Handlers see the caller's request context.
 */
export function createTestPeer(
  routes: (router: ConnectRouter) => void,
  options: { readonly logger?: Logger } = {},
): Peer {
  const logger = options.logger ?? createLogger({ service: "test", level: "silent" });
  const interceptors = [createServerErrorInterceptor(logger)];
  const transport = withServiceErrors(createRouterTransport(routes, { router: { interceptors } }));
  return {
    client: (service) => createClient(service, transport),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** As the lean transport does: callers see `ServiceError`s only. */
function withServiceErrors(transport: Transport): Transport {
  return {
    unary: async (...call) => {
      try {
        return await transport.unary(...call);
      } catch (error) {
        throw toServiceError(error);
      }
    },
    stream: (...call) => transport.stream(...call),
  };
}
