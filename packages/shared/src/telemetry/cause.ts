import { newId } from "#src/ids.ts";
import { findContext, type RequestContext } from "./request-context.ts";

/**
 * What ties an event, or work that waits in a table, to the request that asked for it. Its keys are those of an event's
 * headers, so it is stored and copied as it is.
 */
export type Cause = {
  readonly requestid?: string;
  readonly traceparent?: string;
};

/** What an event's headers say of it, among other things. */
export function causeOf({ requestid, traceparent }: Readonly<Record<string, string>>): Cause {
  return {
    ...(requestid === undefined ? {} : { requestid }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** The request that is being worked on, empty outside of one. */
export function currentCause(): Cause {
  const context = findContext();
  if (context === undefined) return {};
  const { requestId, traceparent } = context;
  return traceparent === undefined
    ? { requestid: requestId }
    : { requestid: requestId, traceparent };
}

/** What a plain HTTP request to another of our services says of the current one, as our RPCs do by themselves. */
export function outgoingHeaders(): Readonly<Record<string, string>> {
  const { requestid, traceparent } = currentCause();
  return {
    ...(requestid === undefined ? {} : { "x-request-id": requestid }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** The context in which to go on with what a request asked for; without a request it is one of its own. */
export function contextOf({ requestid, traceparent }: Cause): RequestContext {
  return {
    requestId: requestid ?? newId(),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/**
 * The cause of things that are worked on together: the request, where one asked for them all. Else it is nobody's, because
 * whatever they have in common belongs to none of the requests.
 */
export function sharedCause(causes: readonly Cause[]): Cause {
  const [first = {}] = causes;
  return causes.every(({ requestid }) => requestid === first.requestid) ? first : {};
}
