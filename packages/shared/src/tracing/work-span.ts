import type { Attributes } from "@opentelemetry/api";
import { causeOf, contextOf, sharedCause } from "#src/telemetry/cause.ts";
import { runInContext } from "#src/telemetry/request-context.ts";
import { inSpan } from "./tracing.ts";

/** Work that waits in a table, with the headers of the event that requested it. */
export interface Work {
  readonly workspaceId: string;
  readonly platform: string;
  /** Headers of the event that requested the work; null in rows that an older release created. */
  readonly cause: Readonly<Record<string, string>> | null;
}

/**
 * Runs work in a span, in the context of the API request that led to the work, so that events,
 * traces and log lines carry the id of that request.
 *
 * @param attributes Attributes of the span, in addition to the platform and the workspace.
 */
export function inWorkSpan<T>(
  name: string,
  { workspaceId, platform, cause }: Work,
  attributes: Attributes,
  run: () => Promise<T>,
): Promise<T> {
  const all = {
    "postrider.platform": platform,
    "postrider.workspace.id": workspaceId,
    ...attributes,
  };
  return runInContext({ ...contextOf(causeOf(cause ?? {})), workspaceId }, () =>
    inSpan(name, { kind: "internal", attributes: all }, run),
  );
}

/** In the context of the API request if all work has the same, otherwise in a new one. */
export function inWorkContext<T>(works: readonly Pick<Work, "cause">[], run: () => T): T {
  return runInContext(contextOf(sharedCause(works.map(({ cause }) => causeOf(cause ?? {})))), run);
}
