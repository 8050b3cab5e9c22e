import type { RequestContext } from "#src/telemetry/request-context.ts";
import { actorOf, type AuditActor } from "./actor.ts";

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
export interface StoredActor {
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
  const via = kind === "key" ? context?.createdVia : undefined;
  return { kind, id: id ?? null, name: name ?? null, via: via ?? null };
}
