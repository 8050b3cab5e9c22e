import { connect, createServer, type Socket } from "node:net";
import { listen } from "#src/testing/listen.ts";

export interface TcpProxy extends AsyncDisposable {
  /** Of the same server, through the proxy. */
  readonly url: string;
}

/** A way to a server: `join` decides what passes between each client and its connection. */
export async function openProxy(
  serverUrl: string,
  join: (client: Socket, backend: Socket) => void,
): Promise<TcpProxy> {
  const { hostname, port } = new URL(serverUrl);
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
  const url = new URL(serverUrl);
  url.host = listening.address;
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await listening[Symbol.asyncDispose]();
    },
  };
}

export interface SilenceableProxy extends TcpProxy {
  /** Connections that exist already get no more bytes, as after a network was cut. */
  readonly silence: () => void;
}

/** A way to a server that passes everything on. */
export async function openSilenceableProxy(serverUrl: string): Promise<SilenceableProxy> {
  const cuts: (() => void)[] = [];
  const proxy = await openProxy(serverUrl, (client, backend) => {
    backend.pipe(client);
    client.pipe(backend);
    cuts.push(() => {
      backend.unpipe(client);
      client.unpipe(backend);
    });
  });
  const silence = () => {
    for (const cut of cuts) cut();
  };
  return { ...proxy, silence };
}
