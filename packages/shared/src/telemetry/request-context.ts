import { AsyncLocalStorage } from "node:async_hooks";

/** What travels with a request through every service that works on it. */
export interface RequestContext {
  /** 1-128 visible ASCII characters; in every log line and RPC of the request. */
  readonly requestId: string;
  readonly workspaceId?: string;
  /** `rest`, `mcp` or `dashboard`. */
  readonly createdVia?: string;
  /** W3C trace context, passed on as it came. */
  readonly traceparent?: string;
  /** Monotonic milliseconds (`performance.now()`) after which nobody waits for the answer. */
  readonly deadlineAt?: number;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** The current request's context, or undefined outside of a request (jobs, consumers). */
export function findContext(): RequestContext | undefined {
  return storage.getStore();
}

/** Runs `work` so that everything it calls sees `context`. */
export function runInContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}
