import type { RequestContext } from "#src/telemetry/request-context.ts";

/**
 * `key`: a client with an API key, or a session that was opened with it · `session`: a session that
 * was opened with a link · `operator`: the operator's tool · `service`: a process by itself ·
 * `connect_link`: a person in a browser who opened the connect link of an authorization.
 */
export interface AuditActor {
  readonly kind: "key" | "session" | "operator" | "service" | "connect_link";
  /**
   * Id of a key, session or authorization, or name of a process; undefined when the service itself
   * acts.
   */
  readonly id: string | undefined;
  /** User and computer, as the operator's tool says; nothing proves it. */
  readonly name?: string | undefined;
}

/** The service itself outside of a request. */
export function actorOf(context: RequestContext | undefined): AuditActor {
  const { caller, origin } = context ?? {};
  if (caller === "operator") return { kind: "operator", id: caller, name: origin?.person };
  if (caller === "gateway" && origin?.keyId !== undefined) return { kind: "key", id: origin.keyId };
  if (caller === "gateway" && origin?.sessionId !== undefined)
    return { kind: "session", id: origin.sessionId };
  return { kind: "service", id: caller };
}

/** Only the joined ids of an RPC that several requests share can be longer; the rest is cut off. */
const MAX_REQUEST_ID_LENGTH = 128;

/** Null outside of a request. */
export function requestOf(context: RequestContext | undefined) {
  if (context === undefined) return { requestId: null, address: null };
  const { requestId, origin } = context;
  return {
    requestId: requestId.slice(0, MAX_REQUEST_ID_LENGTH),
    address: origin?.address ?? null,
  };
}

/** The actor of a change and the interface of its request. */
interface StoredActor {
  readonly kind: AuditActor["kind"];
  readonly id: string | null;
  readonly name: string | null;
  readonly via: string | null;
}

export function toStoredActor(
  context: RequestContext | undefined,
  actor: AuditActor | undefined,
): StoredActor {
  const { kind, id, name } = actor ?? actorOf(context);
  const via = kind === "key" || kind === "session" ? context?.createdVia : undefined;
  return { kind, id: id ?? null, name: name ?? null, via: via ?? null };
}
