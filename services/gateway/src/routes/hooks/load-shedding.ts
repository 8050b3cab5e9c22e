import { monitorEventLoopDelay } from "node:perf_hooks";
import { unavailable } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";

const MAX_DELAY_MS = 250;
const SAMPLE_MS = 500;
const NANOSECONDS_PER_MS = 1e6;

/** While the event loop is late, new requests are refused at once: answering late would make everybody late. */
export function addLoadShedding(app: FastifyInstance): void {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  let overloaded = false;
  let timer: NodeJS.Timeout | undefined;
  // Not before: compiling the schemas at start holds the loop longer than any request may.
  app.addHook("onReady", (done) => {
    delay.enable();
    timer = setInterval(() => {
      overloaded = delay.mean / NANOSECONDS_PER_MS > MAX_DELAY_MS;
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
  app.addHook("onRequest", (_request, _reply, done) => {
    done(overloaded ? unavailable(undefined, 1000) : undefined);
  });
}
