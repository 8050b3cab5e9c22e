import { newId } from "#src/ids.ts";
import { findContext, type RequestContext } from "./request-context.ts";

/** With the keys of an event's headers, so that it can be stored and copied unchanged. */
export type Cause = {
  readonly requestid?: string;
  readonly traceparent?: string;
};

/** Returns the request that caused an event, from the headers of the event. */
export function causeOf({ requestid, traceparent }: Readonly<Record<string, string>>): Cause {
  return {
    ...(requestid === undefined ? {} : { requestid }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** Empty outside of a request. */
export function currentCause(): Cause {
  const context = findContext();
  if (context === undefined) return {};
  const { requestId, traceparent } = context;
  return traceparent === undefined
    ? { requestid: requestId }
    : { requestid: requestId, traceparent };
}

/** Links a plain HTTP request to the current request, as RPCs do automatically. */
export function outgoingHeaders(): Readonly<Record<string, string>> {
  const { requestid, traceparent } = currentCause();
  return {
    ...(requestid === undefined ? {} : { "x-request-id": requestid }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** Returns the context of the request that caused the work, or a new one if it is unknown. */
export function contextOf({ requestid, traceparent }: Cause): RequestContext {
  return {
    requestId: requestid ?? newId(),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** Work that several requests share belongs to none of them. */
export function sharedCause(causes: readonly Cause[]): Cause {
  const [first = {}] = causes;
  return causes.every(({ requestid }) => requestid === first.requestid) ? first : {};
}
