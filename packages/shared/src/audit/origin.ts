import type { RequestContext } from "#src/telemetry/request-context.ts";
import { actorOf, type AuditActor } from "./actor.ts";

/**
 * Maximum length, in characters, of a request id in the audit log; the rest of a longer text is cut off. Only the
 * joined ids of an RPC that several requests share can be longer.
 */
const MAX_REQUEST_ID_LENGTH = 128;

/** The id and the remote address of a request, as the audit log stores them; null outside of a request. */
export function requestOf(context: RequestContext | undefined) {
  if (context === undefined) return { requestId: null, address: null };
  const { requestId, origin } = context;
  return {
    requestId: requestId.slice(0, MAX_REQUEST_ID_LENGTH),
    address: origin?.address ?? null,
  };
}

/** The actor of a change and the interface of its request, as the audit log stores them. */
export interface StoredActor {
  readonly kind: AuditActor["kind"];
  /** Null when the service itself is the actor. */
  readonly id: string | null;
  readonly name: string | null;
  /** The interface that a client used: `rest`, `mcp` or `dashboard`; null for other actors. */
  readonly via: string | null;
}

export function toStoredActor(
  context: RequestContext | undefined,
  actor: AuditActor | undefined,
): StoredActor {
  const { kind, id, name } = actor ?? actorOf(context);
  const via = kind === "key" ? context?.createdVia : undefined;
  return { kind, id: id ?? null, name: name ?? null, via: via ?? null };
}
