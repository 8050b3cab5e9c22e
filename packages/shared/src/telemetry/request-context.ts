import { AsyncLocalStorage } from "node:async_hooks";

/** The data about a request that the services pass on to each other. */
export interface RequestContext {
  /** Id of the request: 1 to 128 visible ASCII characters, in every log line and RPC of the request. */
  readonly requestId: string;
  readonly workspaceId?: string;
  /** The interface through which the request arrived: `rest`, `mcp` or `dashboard`. */
  readonly createdVia?: string;
  /** W3C trace context of the request. */
  readonly traceparent?: string;
  /** Deadline for the answer to the request, in milliseconds of `performance.now()`. */
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
