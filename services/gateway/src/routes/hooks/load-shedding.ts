import { monitorEventLoopDelay } from "node:perf_hooks";
import { unavailable } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import type { ServerDeps } from "#src/routes/dependencies.ts";

const MAX_DELAY_MS = 250;
const SAMPLE_MS = 500;
/** Fewer turns of the loop than these say nothing yet. */
const MIN_TURNS = 3;
const NANOSECONDS_PER_MS = 1e6;
/** A process that sheds load is alive: restarting it, or taking it out of service, would only move the load. */
const PROBES = new Set(["/livez", "/readyz"]);

/** The longest turn is left out: when it is seen it is over, and shedding would not undo it. */
function meanDelayMs({ mean, max, count }: ReturnType<typeof monitorEventLoopDelay>): number {
  return (mean * count - max) / (count - 1) / NANOSECONDS_PER_MS;
}

/** Watches the event loop from the moment the server listens: starting up is slow and no overload. */
function watchEventLoop(app: FastifyInstance, maxDelayMs: number): () => boolean {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  let isOverloaded = false;
  let timer: NodeJS.Timeout | undefined;
  app.addHook("onListen", (done) => {
    delay.enable();
    timer = setInterval(() => {
      if (delay.count < MIN_TURNS) return;
      isOverloaded = meanDelayMs(delay) > maxDelayMs;
      delay.reset();
    }, SAMPLE_MS);
    timer.unref();
    done();
  });
  app.addHook("onClose", (_app, done) => {
    clearInterval(timer);
    delay.disable();
    done();
  });
  return () => isOverloaded;
}

/** While the event loop is late, new requests are refused at once: answering late would make everybody late. */
export function addLoadShedding(
  app: FastifyInstance,
  { maxLoopDelayMs = MAX_DELAY_MS }: Pick<ServerDeps, "maxLoopDelayMs">,
): void {
  const isOverloaded = watchEventLoop(app, maxLoopDelayMs);
  app.addHook("onRequest", (request, _reply, done) => {
    const isShed = isOverloaded() && !PROBES.has(request.url);
    done(isShed ? unavailable(undefined, 1000) : undefined);
  });
}
