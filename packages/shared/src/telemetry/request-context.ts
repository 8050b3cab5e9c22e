import { AsyncLocalStorage } from "node:async_hooks";

/** Where a request comes from, for the audit log. Services do not pass it on in the RPCs that they make themselves. */
export interface RequestOrigin {
  /** Id of the API key with which a client sent the request. */
  readonly keyId?: string | undefined;
  /** User and computer of an operator, as the operator's tool says; nothing proves it. */
  readonly person?: string | undefined;
  /** Remote address of the client, or of the process that called the service when no client did. */
  readonly address?: string | undefined;
}

/** The data about a request that the services pass on to each other. */
export interface RequestContext {
  /**
   * Id of the request: 1 to 128 visible ASCII characters, in every log line and RPC of the request. An RPC that several
   * requests share has the ids of all these requests, separated by commas.
   */
  readonly requestId: string;
  readonly workspaceId?: string;
  /** The interface through which the request arrived: `rest`, `mcp` or `dashboard`. */
  readonly createdVia?: string;
  /**
   * Name of the process that calls this service, as its identity token proves. Undefined in the gateway and in the
   * operator's tool, where requests begin.
   */
  readonly caller?: string;
  readonly origin?: RequestOrigin;
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

/**
 * Maximum total length, in characters, of the request ids of an RPC that several requests share, so that they fit into
 * an HTTP header. The ids that do not fit are left out.
 */
const MAX_SHARED_LENGTH = 4_000;

/**
 * Returns the request context of a call that serves several requests. Log lines of the call contain the ids of all
 * these requests. The context has neither the deadline nor the workspace nor the trace of any of them. Callers outside
 * of a request are left out.
 *
 * @returns Undefined when no caller is inside of a request; the unchanged context of the callers when all have the
 * same.
 */
export function shareContext(
  contexts: readonly (RequestContext | undefined)[],
): RequestContext | undefined {
  const known = [...new Set(contexts)].filter((context) => context !== undefined);
  const [first, ...others] = known;
  if (first === undefined || others.length === 0) return first;
  const ids = new Set(known.map(({ requestId }) => requestId));
  let requestId = "";
  for (const id of ids) {
    const longer = requestId === "" ? id : `${requestId},${id}`;
    if (longer.length > MAX_SHARED_LENGTH) break;
    requestId = longer;
  }
  return { requestId };
}
