import { once } from "node:events";
import { Server as HttpServer } from "node:http";
import { Server as HttpsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";

/** Where a test's server listens. Disposing closes it and its HTTP connections. */
export interface Listening extends AsyncDisposable {
  readonly port: number;
  /** `<host>:<port>`, as in the setting `OUTBOUND_ALLOW`. */
  readonly address: string;
  readonly url: string;
}

export async function listen(server: Server, on = 0, host = "127.0.0.1"): Promise<Listening> {
  server.listen(on, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    address: `${host}:${port}`,
    url: `http://${host}:${port}`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      if (server instanceof HttpServer || server instanceof HttpsServer)
        server.closeAllConnections();
      await closed;
    },
  };
}
