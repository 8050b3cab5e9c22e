import { AsyncLocalStorage } from "node:async_hooks";
import { newId } from "#src/ids.ts";

/** For the audit log. Services do not pass it on in the RPCs that they make themselves. */
export interface RequestOrigin {
  /** The API key of the client, or with which its session was opened. */
  readonly keyId?: string | undefined;
  /** The dashboard session of the client. */
  readonly sessionId?: string | undefined;
  /** User and computer of an operator, as the tool says; nothing proves it. */
  readonly person?: string | undefined;
  /** Address of the client, or of the calling process if no client called. */
  readonly address?: string | undefined;
}

/** What services pass on to each other. */
export interface RequestContext {
  /**
   * 1 to 128 visible ASCII characters; an RPC that several requests share has all ids with commas.
   */
  readonly requestId: string;
  readonly workspaceId?: string;
  /** `rest`, `mcp` or `dashboard`. */
  readonly createdVia?: string;
  /**
   * As its token proves. Undefined in the gateway and the operator's tool, where requests begin.
   */
  readonly caller?: string;
  readonly origin?: RequestOrigin;
  readonly traceparent?: string;
  /** In milliseconds of `performance.now()`. */
  readonly deadlineAt?: number;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Undefined outside of a request (jobs, consumers). */
export function findContext(): RequestContext | undefined {
  return storage.getStore();
}

export function runInContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

/** For work that goes on when the request is answered: it has no deadline then. */
export function runBeyondRequest<T>(work: () => T): T {
  const { deadlineAt: _ofRequest, ...context } = findContext() ?? { requestId: newId() };
  return runInContext(context, work);
}

/** So that they fit into an HTTP header; the ids that do not fit are left out. */
const MAX_SHARED_LENGTH = 4_000;

/**
 * For a call that serves several requests, with the ids of all but without deadline, workspace and
 * trace. Callers outside of a request are left out.
 *
 * @returns Undefined when no caller is inside of a request; the unchanged context when all have the
 *   same.
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
