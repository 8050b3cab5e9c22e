import { createClient, createRouterTransport, type ConnectRouter } from "@connectrpc/connect";
import { withServiceErrors, type Peer } from "#src/connect/client.ts";
import { createServerErrorInterceptor } from "#src/errors/connect.ts";
import { createLogger, type Logger } from "#src/telemetry/logger.ts";

/**
 * Creates an in-memory service with the same routes, encoding and error mapping as over the
 * network, so that tests run the real RPC handlers without sockets. Handlers see the caller's
 * request context.
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
    abortCalls: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
