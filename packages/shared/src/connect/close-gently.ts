import type { ServerResponse } from "node:http";
import { Server, type Socket } from "node:net";
import { setImmediate as pollPhaseOver, setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

const LOOK_EVERY_MS = 25;
/** When nobody has come or asked during so many looks, what is still connected is idle, and no client is merely stalled. */
const QUIET_LOOKS = 30;
/** Without a connection, and without traffic for so long, hardly anybody is on the way here: fewer looks will do. */
const LONELY_MS = 1_000;
const LONELY_LOOKS = 2;
/** Clients that never stop coming are not waited for longer: whoever sends them here does not look at `/readyz`. */
const MAX_LOOKS = 200;
/** A connection that has carried nothing yet may be about to; after so many looks it is not. */
const UNUSED_LOOKS = 40;
/** A client that has not sent its request, or not read its answer, so long after the stop is cut off. */
const CUT_MS = 21_000;

/**
 * A pause that ends right after the loop has read everything that had arrived: a process that got no processor for a
 * while sees what came meanwhile before it decides that nothing did.
 */
async function nextLook(): Promise<void> {
  await sleep(LOOK_EVERY_MS);
  await pollPhaseOver();
}

/** Who comes and asks. */
class Traffic {
  readonly connections = new Set<Socket>();
  readonly #unanswered = new Set<ServerResponse>();
  #isLast = false;
  #count = 0;
  #at = Number.NEGATIVE_INFINITY;

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#note();
      this.connections.add(socket);
      socket.once("close", () => this.connections.delete(socket));
    });
    // Before the handler, which may answer at once.
    server.prependListener("request", (_request, response: ServerResponse) => {
      this.#note();
      if (this.#isLast) response.shouldKeepAlive = false;
      this.#unanswered.add(response);
      response.once("close", () => this.#unanswered.delete(response));
    });
  }

  /** From now on an answer ends its connection, and says so. */
  endWithAnswers(): void {
    this.#isLast = true;
    for (const response of this.#unanswered) response.shouldKeepAlive = false;
  }

  get #isLonely(): boolean {
    return this.connections.size === 0 && performance.now() - this.#at > LONELY_MS;
  }

  async untilQuiet(): Promise<void> {
    const enough = this.#isLonely ? LONELY_LOOKS : QUIET_LOOKS;
    let seen = this.#count;
    let quiet = 0;
    for (let look = 0; look < MAX_LOOKS && quiet < enough; look++) {
      await nextLook();
      quiet = this.#count === seen ? quiet + 1 : 0;
      seen = this.#count;
    }
  }

  #note(): void {
    this.#count += 1;
    this.#at = performance.now();
  }
}

/**
 * Makes `app.close()` lose no request. Whoever balances the load learns from `/readyz` that the process stops, and needs
 * a moment for it; a connection that waits to be accepted when the port closes is reset, and a kept-alive one that is cut
 * while a request is on its way looks like a request that may or may not have been worked on. So at first everything is
 * answered as ever, only that each answer ends its connection (`connection: close`). When nobody comes any more the port
 * is closed, then the idle connections, again and again, because one that had a request in flight becomes idle later
 * (70 s measured). In the end whoever still holds one is cut off.
 */
export function closeGently(app: FastifyInstance): void {
  const { server } = app;
  const traffic = new Traffic(server);

  const closeTheRest = async (): Promise<void> => {
    for (let look = 0; traffic.connections.size > 0; look++) {
      await nextLook();
      server.closeIdleConnections();
      if (look < UNUSED_LOOKS) continue;
      // Node takes a connection without a request for busy and would wait for its first one.
      for (const socket of traffic.connections) if (socket.bytesRead === 0) socket.destroy();
    }
  };

  app.addHook("preClose", async () => {
    traffic.endWithAnswers();
    if (!server.listening) return;
    setTimeout(() => server.closeAllConnections(), CUT_MS).unref();
    await traffic.untilQuiet();
    // Only the port: `http.Server.close` would cut the idle connections in the same moment.
    Server.prototype.close.call(server);
    void closeTheRest();
  });
}
