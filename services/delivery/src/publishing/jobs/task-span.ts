import { causeOf, contextOf, sharedCause } from "@postrider/shared/telemetry/cause";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import { inSpan } from "@postrider/shared/tracing/tracing";

/** Work on a target, and who asked for it. */
interface TargetWork {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly platform: string;
  /** Headers of the event that asked for it; null of what was asked for before they were kept. */
  readonly cause: Readonly<Record<string, string>> | null;
}

function causeOfWork({ cause }: Pick<TargetWork, "cause">) {
  return causeOf(cause ?? {});
}

/** Works on a target as part of the request that asked for it: what follows, and every log line, goes on from there. */
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

/** Does for several targets what is done for all at once; as part of a request only if one asked for them all. */
export function forTasks<T>(tasks: readonly Pick<TargetWork, "cause">[], work: () => T): T {
  return runInContext(contextOf(sharedCause(tasks.map(causeOfWork))), work);
}
