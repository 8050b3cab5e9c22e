import { newId } from "#src/ids.ts";
import { findContext, type RequestContext } from "./request-context.ts";

/**
 * Links an event, or work that waits in a table, to the request that caused it. It has the keys of an event's headers, so
 * that it can be stored and copied unchanged.
 */
export type Cause = {
  readonly requestid?: string;
  readonly traceparent?: string;
};

/** The cause in the headers of an event. */
export function causeOf({ requestid, traceparent }: Readonly<Record<string, string>>): Cause {
  return {
    ...(requestid === undefined ? {} : { requestid }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** The current request as a cause; empty outside of a request. */
export function currentCause(): Cause {
  const context = findContext();
  if (context === undefined) return {};
  const { requestId, traceparent } = context;
  return traceparent === undefined
    ? { requestid: requestId }
    : { requestid: requestId, traceparent };
}

/** Headers that link a plain HTTP request between services to the current request, as RPCs do automatically. */
export function outgoingHeaders(): Readonly<Record<string, string>> {
  const { requestid, traceparent } = currentCause();
  return {
    ...(requestid === undefined ? {} : { "x-request-id": requestid }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** The context in which work for a request continues; without a request it is a new one. */
export function contextOf({ requestid, traceparent }: Cause): RequestContext {
  return {
    requestId: requestid ?? newId(),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/**
 * The cause of items that are processed together: their request if all of them have the same, otherwise empty, because
 * work that several requests share belongs to none of them.
 */
export function sharedCause(causes: readonly Cause[]): Cause {
  const [first = {}] = causes;
  return causes.every(({ requestid }) => requestid === first.requestid) ? first : {};
}
