import { connect, createServer, type Socket } from "node:net";
import { listen } from "#src/testing/listen.ts";

export interface DatabaseProxy extends AsyncDisposable {
  /** Of the same database, through the proxy. */
  readonly url: string;
}

/** A way to Postgres: `join` decides what passes between each client and its connection. */
export async function openProxy(
  databaseUrl: string,
  join: (client: Socket, backend: Socket) => void,
): Promise<DatabaseProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const backend = connect({ host: hostname, port: Number(port) });
    for (const socket of [client, backend]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    join(client, backend);
  });
  const listening = await listen(server);
  const url = new URL(databaseUrl);
  url.host = listening.address;
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await listening[Symbol.asyncDispose]();
    },
  };
}
