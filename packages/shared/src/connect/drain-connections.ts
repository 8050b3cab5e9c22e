import type { ServerResponse } from "node:http";
import { Server, type Socket } from "node:net";
import { setImmediate as pollPhaseOver, setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

const CHECK_EVERY_MS = 25;
/** Consecutive checks without a new connection or request after which the port is closed. */
const QUIET_CHECKS = 30;
/** Without traffic this long before the stop, `UNUSED_SERVER_CHECKS` checks are enough. */
const UNUSED_SERVER_MS = 1_000;
const UNUSED_SERVER_CHECKS = 2;
/** Clients that still connect come through a load balancer that ignores `/readyz`. */
const MAX_CHECKS = 200;
/** Number of checks after which connections without a request are closed. */
const UNUSED_CONNECTION_CHECKS = 40;
/** Remaining clients have not sent a whole request, or not read the whole answer. */
const DISCONNECT_MS = 21_000;

/** A process without processor time would otherwise count its unread requests as no traffic. */
async function nextCheck(): Promise<void> {
  await sleep(CHECK_EVERY_MS);
  await pollPhaseOver();
}

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
    // Must run before the request handler, whose immediate answer would otherwise keep the
    // connection open.
    server.prependListener("request", (_request, response: ServerResponse) => {
      this.#note();
      if (this.#isLast) response.shouldKeepAlive = false;
      this.#unanswered.add(response);
      response.once("close", () => this.#unanswered.delete(response));
    });
  }

  /** With `connection: close`. */
  endWithAnswers(): void {
    this.#isLast = true;
    for (const response of this.#unanswered) response.shouldKeepAlive = false;
  }

  get #isUnused(): boolean {
    return this.connections.size === 0 && performance.now() - this.#at > UNUSED_SERVER_MS;
  }

  async untilQuiet(): Promise<void> {
    const enough = this.#isUnused ? UNUSED_SERVER_CHECKS : QUIET_CHECKS;
    let seen = this.#count;
    let quiet = 0;
    for (let check = 0; check < MAX_CHECKS && quiet < enough; check++) {
      await nextCheck();
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
 * Stops a server without losing a request. A load balancer needs a moment to learn from `/readyz`
 * that the process stops; if the port closed at once, waiting connections would be reset, and
 * requests on kept-alive ones would fail without saying whether they were processed.
 *
 * So requests are still answered, but each answer closes its connection. Without new traffic the
 * port is closed, then idle connections, repeatedly, because one with a request in flight becomes
 * idle later. After 21 s all remaining ones are closed.
 */
export function drainConnections(app: FastifyInstance): void {
  const { server } = app;
  const traffic = new Traffic(server);

  const closeConnections = async (): Promise<void> => {
    for (let check = 0; traffic.connections.size > 0; check++) {
      await nextCheck();
      server.closeIdleConnections();
      if (check < UNUSED_CONNECTION_CHECKS) continue;
      // Node counts a connection without a request as busy and would wait for its first request.
      for (const socket of traffic.connections) if (socket.bytesRead === 0) socket.destroy();
    }
  };

  app.addHook("preClose", async () => {
    traffic.endWithAnswers();
    if (!server.listening) return;
    setTimeout(() => server.closeAllConnections(), DISCONNECT_MS).unref();
    await traffic.untilQuiet();
    // `http.Server.close` would close idle connections at the same time.
    Server.prototype.close.call(server);
    void closeConnections();
  });
}
