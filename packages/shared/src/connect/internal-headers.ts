import { timingSafeEqual } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { newId } from "#src/ids.ts";
import type { RequestContext } from "#src/telemetry/request-context.ts";
import { parseTraceparent } from "#src/tracing/traceparent.ts";

/**
 * Throws unless the header holds the shared secret, or one of several while it is changed. The comparison takes as long
 * for every wrong secret of the right length; that the length itself shows is no help, because it is long.
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
      throw new ConnectError("wrong internal secret", Code.Unauthenticated);
    }
  };
}

/** The caller's ids and deadline, from the headers of a call between our services. */
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
