import type { IncomingMessage } from "node:http";
import { newId } from "#src/ids.ts";
import type { RequestContext } from "#src/telemetry/request-context.ts";
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
