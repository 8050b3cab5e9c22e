import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

/**
 * What a hostile webhook receiver does with a connection, from the moment at which it has read the
 * first bytes.
 */
export type Behaviour = (socket: Socket) => void | Promise<void>;

export interface HostileReceiver extends AsyncDisposable {
  readonly port: number;
  /** Number of connections that the hostile webhook receiver accepted. */
  readonly connections: number;
}

/** Sends a text one byte at a time, with a pause after each byte, until the connection ends. */
export function drip(text: string, everyMs = 20): Behaviour {
  return async (socket) => {
    for (const byte of text) {
      if (socket.destroyed) return;
      socket.write(byte);
      await sleep(everyMs);
    }
  };
}

/** Sends a chunk as fast as the connection takes it, up to `total` bytes. */
export function flood(head: string, chunk: string, total: number): Behaviour {
  return async (socket) => {
    socket.write(head);
    for (let sent = 0; sent < total && !socket.destroyed; sent += chunk.length)
      if (!socket.write(chunk)) await Promise.race([once(socket, "drain"), once(socket, "close")]);
    socket.end();
  };
}

export function answer(text: string): Behaviour {
  return (socket) => void socket.end(text);
}

/** Starts a hostile webhook receiver on a loopback address. */
export async function startHostile(
  behave: Behaviour,
  options: {
    readonly tls?: TlsOptions;
    /**
     * Whether the receiver's behaviour begins when it accepts the connection. Default: with the
     * first bytes of the request.
     */
    readonly atOnce?: boolean;
  } = {},
): Promise<HostileReceiver> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const onConnection = (socket: Socket): void => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    const start = () => void Promise.resolve(behave(socket)).catch(() => undefined);
    if (options.atOnce === true) start();
    else socket.once("data", start);
  };
  const server: Server =
    options.tls === undefined
      ? createServer(onConnection)
      : createTlsServer(options.tls, onConnection);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
