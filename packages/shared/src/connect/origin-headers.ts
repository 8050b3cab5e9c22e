import { isIP } from "node:net";
import { isId } from "#src/ids.ts";
import type { RequestContext, RequestOrigin } from "#src/telemetry/request-context.ts";

const KEY_ID = "x-api-key-id";
const ADDRESS = "x-client-address";
const PERSON = "x-operator";

/** Maximum length, in characters, of the name of an operator's user and computer; the rest of a longer name is cut off. */
const MAX_PERSON_LENGTH = 128;
/** The form in which a socket that also accepts IPv6 names an IPv4 address. */
const MAPPED = /^::ffff:(?=\d+\.)/i;

function toAddress(text: string | undefined): string | undefined {
  const address = text?.replace(MAPPED, "");
  return address === undefined || isIP(address) === 0 ? undefined : address;
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

/**
 * Returns the headers that tell a service where a request comes from. Only the gateway and the operator's tool send
 * them: any other process knows the origin of its request only from its own caller, so services ignore these headers
 * from it.
 */
export function originHeaders({
  caller,
  origin,
}: RequestContext): Readonly<Record<string, string>> {
  if (caller !== undefined || origin === undefined) return {};
  const { keyId, person } = origin;
  const address = toAddress(origin.address);
  return {
    ...(keyId === undefined ? {} : { [KEY_ID]: keyId }),
    ...(address === undefined ? {} : { [ADDRESS]: address }),
    ...(person === undefined ? {} : { [PERSON]: encodeURIComponent(person.toWellFormed()) }),
  };
}

/** Reads the origin of a request from the headers that its caller may set. */
function readOrigin(
  caller: string,
  header: (name: string) => string | undefined,
  remoteAddress: string | undefined,
): RequestOrigin {
  if (caller === "gateway") {
    const keyId = header(KEY_ID);
    const isKnown = keyId !== undefined && isId(keyId);
    return { keyId: isKnown ? keyId : undefined, address: toAddress(header(ADDRESS)) };
  }
  const address = toAddress(remoteAddress);
  return caller === "operator" ? { person: parsePerson(header(PERSON)), address } : { address };
}

/**
 * Adds the caller of an RPC and the origin of its request to the request context. Only the gateway may report an API
 * key and a client's address, and only the operator's tool may report the name of a person; from other callers these
 * are ignored.
 *
 * @param caller Name of the calling process, as its identity proves.
 * @param remoteAddress Address of the connection.
 */
export function withCaller(
  context: RequestContext,
  caller: string,
  header: (name: string) => string | undefined,
  remoteAddress: string | undefined,
): RequestContext {
  return { ...context, caller, origin: readOrigin(caller, header, remoteAddress) };
}
