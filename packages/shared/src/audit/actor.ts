import type { RequestContext } from "#src/telemetry/request-context.ts";

/**
 * `key`: a client with an API key · `operator`: the operator's tool · `service`: a process by
 * itself · `connect_link`: a person in a browser who opened the connect link of an authorization.
 */
export interface AuditActor {
  readonly kind: "key" | "operator" | "service" | "connect_link";
  /**
   * Id of an API key or of an authorization, or name of a process; undefined when the service
   * itself acts.
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
  return { kind: "service", id: caller };
}
