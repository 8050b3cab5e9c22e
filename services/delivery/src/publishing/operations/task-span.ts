import { causeOf, contextOf, sharedCause } from "@postrider/shared/telemetry/cause";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import { inSpan } from "@postrider/shared/tracing/tracing";

/** Work on a publishing target, with the headers of the event that requested the work. */
interface TargetWork {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly platform: string;
  /** Headers of the event that requested the work; null in rows that an older release created. */
  readonly cause: Readonly<Record<string, string>> | null;
}

function causeOfWork({ cause }: Pick<TargetWork, "cause">) {
  return causeOf(cause ?? {});
}

/**
 * Runs work on a target in the context of the API request that led to it, so that events, traces and log lines carry the id of
 * that request.
 */
export function inTaskSpan<T>(name: string, task: TargetWork, work: () => Promise<T>): Promise<T> {
  const { workspaceId, targetId, platform } = task;
  const attributes = {
    "postrider.platform": platform,
    "postrider.target.id": targetId,
    "postrider.workspace.id": workspaceId,
  };
  return runInContext({ ...contextOf(causeOfWork(task)), workspaceId }, () =>
    inSpan(name, { kind: "internal", attributes }, work),
  );
}

/**
 * Runs work on several targets at once. The work runs in the context of an API request only if that request led to the
 * work on all these targets.
 */
export function forTasks<T>(tasks: readonly Pick<TargetWork, "cause">[], work: () => T): T {
  return runInContext(contextOf(sharedCause(tasks.map(causeOfWork))), work);
}
