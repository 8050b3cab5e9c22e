import type { IncomingMessage } from "node:http";
import { addressOf } from "#src/http/remote-network.ts";
import { isId, newId } from "#src/ids.ts";
import type { RequestContext, RequestOrigin } from "#src/telemetry/request-context.ts";
import { parseTraceparent } from "#src/tracing/traceparent.ts";

export function firstHeader({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The ids of request, workspace and trace, and the deadline, from the headers of an RPC. */
export function toRequestContext(header: (name: string) => string | undefined): RequestContext {
  const timeoutMs = Number(header("connect-timeout-ms"));
  const workspaceId = header("x-workspace-id");
  const createdVia = header("x-created-via");
  const traceparent = parseTraceparent(header("traceparent") ?? "");
  return {
    requestId: header("x-request-id") ?? newId(),
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(createdVia === undefined ? {} : { createdVia }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(timeoutMs > 0 ? { deadlineAt: performance.now() + timeoutMs } : {}),
  };
}

const KEY_ID = "x-api-key-id";
const SESSION_ID = "x-dashboard-session-id";
const ADDRESS = "x-client-address";
const PERSON = "x-operator";

/** The rest of a longer name is cut off. */
const MAX_PERSON_LENGTH = 128;
function toId(text: string | undefined): string | undefined {
  return text !== undefined && isId(text) ? text : undefined;
}

function parsePerson(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  try {
    const text = decodeURIComponent(header).toWellFormed();
    return text
      .replaceAll(/\p{Cc}/gu, " ")
      .slice(0, MAX_PERSON_LENGTH)
      .toWellFormed();
  } catch {
    return undefined;
  }
}

/** Services ignore these headers from others than the gateway and the operator's tool. */
export function originHeaders({
  caller,
  origin,
}: RequestContext): Readonly<Record<string, string>> {
  if (caller !== undefined || origin === undefined) return {};
  const { keyId, sessionId, person } = origin;
  const address = addressOf(origin.address ?? "");
  return {
    ...(keyId === undefined ? {} : { [KEY_ID]: keyId }),
    ...(sessionId === undefined ? {} : { [SESSION_ID]: sessionId }),
    ...(address === undefined ? {} : { [ADDRESS]: address }),
    ...(person === undefined ? {} : { [PERSON]: encodeURIComponent(person.toWellFormed()) }),
  };
}

/** The headers that the caller may set. */
function readOrigin(
  caller: string,
  header: (name: string) => string | undefined,
  remoteAddress: string | undefined,
): RequestOrigin {
  if (caller === "gateway") {
    const [keyId, sessionId] = [KEY_ID, SESSION_ID].map((name) => toId(header(name)));
    return { keyId, sessionId, address: addressOf(header(ADDRESS) ?? "") };
  }
  const address = addressOf(remoteAddress ?? "");
  return caller === "operator" ? { person: parsePerson(header(PERSON)), address } : { address };
}

/** Only the gateway may report keys, sessions and addresses, only the operator's tool a person. */
export function withCaller(
  context: RequestContext,
  caller: string,
  header: (name: string) => string | undefined,
  remoteAddress: string | undefined,
): RequestContext {
  return { ...context, caller, origin: readOrigin(caller, header, remoteAddress) };
}
