import { connect, createServer, type Server, type Socket } from "node:net";

/** Disposing closes the address and every connection. */
export interface Forwarder extends AsyncDisposable {
  readonly port: number;
}

/**
 * In turn. Backends that are not ready come last, and one that refuses is skipped, so the address
 * answers while at least one runs.
 */
export async function startForwarder(
  port: number,
  backendPorts: readonly number[],
  isReady: (port: number) => boolean = () => true,
): Promise<Forwarder> {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer({ noDelay: true, pauseOnConnect: true }, (client) => {
    track(open, client);
    const first = turn++;
    const order = backendPorts.map(
      (_, index) => backendPorts[(first + index) % backendPorts.length] ?? 0,
    );
    forward(
      open,
      client,
      order.toSorted((a, b) => Number(isReady(b)) - Number(isReady(a))),
    );
  });
  await listen(server, port);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const socket of open) socket.destroy();

      await closed;
    },
  };
}

function forward(open: Set<Socket>, client: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) {
    client.destroy();
    return;
  }
  const backend = connect({ host: "127.0.0.1", port, noDelay: true });
  const tryNext = (): void => forward(open, client, others);
  backend.once("error", tryNext);
  backend.once("connect", () => {
    backend.off("error", tryNext);
    track(open, backend);
    // When one side closes the connection, data that it sent before still reaches the other side.
    client.once("close", () => backend.destroySoon());
    backend.once("close", () => client.destroySoon());
    client.pipe(backend).pipe(client);
  });
}

// Handles errors of the connection. Without a listener, the reset of a connection would end this
// process.
function track(open: Set<Socket>, socket: Socket): void {
  open.add(socket);
  socket.on("error", () => socket.destroy());
  socket.once("close", () => open.delete(socket));
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1" }, () => resolve());
  });
}
