import { monitorEventLoopDelay } from "node:perf_hooks";
import { unavailable } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ServerDeps } from "#src/routes/dependencies.ts";

const MAX_DELAY_MS = 250;
const SAMPLE_MS = 500;
/** Longer than a very late event loop takes between two requests. */
const IDLE_MS = 5_000;
/** Minimum number of delay samples of the event loop for a reliable mean. */
const MIN_SAMPLES = 3;
const NANOSECONDS_PER_MS = 1e6;
/**
 * Paths of the health probes. An overloaded gateway still answers them, because restarting it or
 * taking it out of service would only move the load to the other replicas.
 */
const PROBES = new Set(["/livez", "/readyz"]);

/**
 * Returns the mean delay of the event loop without its longest delay. A single long delay is over
 * when it is measured, so refusing requests would not help.
 */
function meanDelayMs({ mean, max, count }: ReturnType<typeof monitorEventLoopDelay>): number {
  return (mean * count - max) / (count - 1) / NANOSECONDS_PER_MS;
}

/** Takes samples only while requests arrive, because each wakes an idle process. */
function watchEventLoop(app: FastifyInstance, maxDelayMs: number): () => boolean {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  let isOverloaded = false;
  let askedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
    isOverloaded = false;
    delay.disable();
    delay.reset();
  };
  const look = (): void => {
    if (performance.now() - askedAt > IDLE_MS) return stop();
    if (delay.count < MIN_SAMPLES) return;
    isOverloaded = meanDelayMs(delay) > maxDelayMs;
    delay.reset();
  };
  app.addHook("onClose", (_app, done) => {
    stop();
    done();
  });
  return () => {
    askedAt = performance.now();
    if (timer === undefined) delay.enable();
    timer ??= setInterval(look, SAMPLE_MS).unref();
    return isOverloaded;
  };
}

/**
 * A person who opens the dashboard would see an error as JSON. Its page is sent from memory, and
 * says itself that its requests are refused.
 */
function isSpared({ url, routeOptions }: FastifyRequest): boolean {
  return PROBES.has(url) || routeOptions.config?.openLimit === "dashboard";
}

/** New requests are refused so that the accepted ones are answered in time. */
export function addLoadShedding(
  app: FastifyInstance,
  { maxLoopDelayMs = MAX_DELAY_MS }: Pick<ServerDeps, "maxLoopDelayMs">,
): void {
  const isOverloaded = watchEventLoop(app, maxLoopDelayMs);
  app.addHook("onRequest", (request, _reply, done) => {
    const isShed = !isSpared(request) && isOverloaded();
    done(isShed ? unavailable(undefined, 1000) : undefined);
  });
}
