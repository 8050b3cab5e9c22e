import { timingSafeEqual } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { newId } from "#src/ids.ts";
import type { RequestContext } from "#src/telemetry/request-context.ts";
import { parseTraceparent } from "#src/tracing/traceparent.ts";

/**
 * Creates a check that throws unless the header contains an accepted internal secret, of which there are several during
 * a rotation. Comparing takes the same time for every wrong secret of the right length. The length of the secret is not
 * protected, because it does not help an attacker.
 */
export function createAuthorizer(
  internalSecret: string | readonly string[],
): (authorization: string) => void {
  const accepted = [internalSecret].flat().map((secret) => Buffer.from(`Bearer ${secret}`));
  return (authorization) => {
    const given = Buffer.from(authorization);
    const isAccepted = accepted.some(
      (expected) => given.length === expected.length && timingSafeEqual(given, expected),
    );
    if (!isAccepted) {
      throw new ConnectError(
        "the internal secret is wrong or missing; set the same INTERNAL_SECRET in all services",
        Code.Unauthenticated,
      );
    }
  };
}

/** Reads the caller's ids and deadline from the headers of an RPC between our services. */
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
