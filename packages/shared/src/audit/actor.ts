import type { RequestContext } from "#src/telemetry/request-context.ts";

/**
 * Who made a change: `key` = a client with an API key · `operator` = the operator's tool · `service` = a process of
 * Postrider by itself · `connect_link` = a person in a browser who opened the connect link of an authorization.
 */
export interface AuditActor {
  readonly kind: "key" | "operator" | "service" | "connect_link";
  /**
   * Id of the actor: the id of an API key or of an authorization, or the name of a process. Undefined when the service
   * that makes the change is itself the actor.
   */
  readonly id: string | undefined;
  /** User and computer of an operator, as the operator's tool says; nothing proves it. */
  readonly name?: string | undefined;
}

/** Returns who makes the current request; the service itself outside of a request. */
export function actorOf(context: RequestContext | undefined): AuditActor {
  const { caller, origin } = context ?? {};
  if (caller === "operator") return { kind: "operator", id: caller, name: origin?.person };
  if (caller === "gateway" && origin?.keyId !== undefined) return { kind: "key", id: origin.keyId };
  return { kind: "service", id: caller };
}
