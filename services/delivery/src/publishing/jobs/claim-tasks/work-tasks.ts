import { tryHalving } from "@postrider/shared/bus/halving";
import { failpoint } from "@postrider/shared/process/failpoints";
import { inWorkContext, inWorkSpan } from "@postrider/shared/tracing/work-span";
import { backOffMs, CRASHED, endWork, isCrashLooping, type WorkEnd } from "#src/calls/worker.ts";
import { attemptInWork, type ClaimedTask, type TaskEvent } from "#src/publishing/domain/task.ts";
import {
  ask,
  askOwners,
  fetchTasks,
  toTaskInputs,
  withoutInputs,
  type FetchedTask,
  type ReadyTask,
  type TaskGroup,
} from "./fetch-task-inputs.ts";
import { NO_FILES, prepareFiles, type TaskFiles } from "./prepare-files.ts";
import { release, type PublishContext } from "./publish-context.ts";
import { publishTarget } from "./publish-target.ts";
import { reconcileTarget } from "./reconcile-target.ts";
import { learned, type TaskInputs } from "./task-inputs.ts";

/** Never throws: a task that cannot be released is claimed again after its lease. */
export async function workTasks(
  context: PublishContext,
  tasks: readonly ClaimedTask[],
): Promise<void> {
  failpoint("delivery.after-claim");
  const leases = new Map(tasks.map((task) => [task, context.inWork.lease(task)]));
  const work = async (
    task: ClaimedTask,
    run: (interrupted: AbortSignal) => WorkEnd<TaskEvent> | Promise<WorkEnd<TaskEvent>>,
  ): Promise<void> => {
    using lease = leases.get(task);
    const interrupted = AbortSignal.any([context.stopping, ...(lease ? [lease.lost] : [])]);
    const attributes = { "postrider.target.id": task.targetId };
    await inWorkSpan(spanName(task), task, attributes, () =>
      endWork(context.deps, {
        ids: { targetId: task.targetId },
        run: () => run(interrupted),
        record: (event) => context.recorder.record(event),
        release: (delayMs) => release(context, [task], delayMs),
      }),
    );
  };
  // However the work ends, no lease is renewed after it: a kept lease of a task without work would
  // last as long as the process.
  using kept = new DisposableStack();
  for (const lease of leases.values()) kept.use(lease);
  const crashLooping = tasks
    .filter(isCrashLooping)
    .map((task) =>
      work(task, () => learned(task, attemptInWork(task), { ...CRASHED, fence: task.fence })),
    );
  const healthy = tasks.filter((task) => !isCrashLooping(task));
  const groups = await inWorkContext(healthy, () => askOwners(context, healthy));
  const worked = groups.map(async (group) => {
    const fetched = await fetchGroup(context, group);
    const withMedia = group.tasks.map(fetched).filter(hasMedia);
    const files = prepareFiles(context, withMedia);
    await Promise.all(
      group.tasks.map((task) =>
        work(task, (interrupted) =>
          workTask(context, fetched(task), { files: files.get(task), interrupted }),
        ),
      ),
    );
  });
  for (const end of await Promise.allSettled([...crashLooping, ...worked]))
    if (end.status === "rejected")
      context.deps.logger.error(
        { err: end.reason as unknown },
        "the work on claimed targets ended with an unexpected error; other workers continue when the leases end",
      );
}

function hasMedia(fetched: FetchedTask): fetched is ReadyTask {
  return fetched.kind === "ready" && fetched.content.media.length > 0;
}

function spanName({ status }: ClaimedTask): string {
  return status === "reconciling" ? "reconcile target" : "publish target";
}

/**
 * If the posts or accounts service does not answer, the group is released together. If one refuses
 * to answer, it is asked again about each half, down to the task that it cannot answer.
 */
async function fetchGroup(
  context: PublishContext,
  group: TaskGroup,
): Promise<(task: ClaimedTask) => FetchedTask> {
  const { deps } = context;
  const fetched = new Map<ClaimedTask, FetchedTask>();
  try {
    const failures = await tryHalving(group.tasks, async (part) => {
      const asked = part === group.tasks ? group : ask(context, part);
      for (const [task, each] of await fetchTasks(asked)) fetched.set(task, each);
    });
    for (const { item: task, error } of failures) {
      fetched.set(task, withoutInputs(task, backOffMs(deps.random)));
      deps.logger.error(
        { err: error, targetId: task.targetId },
        "the content or credentials of a target cannot be read; it is tried again until it is too late",
      );
    }
  } catch (error) {
    const tasks = group.tasks.filter((task) => !fetched.has(task));
    deps.logger.warn(
      { err: error, count: tasks.length },
      "the content or credentials of targets could not be fetched; the targets are released and tried again in about 1 s",
    );
    await release(context, tasks, backOffMs(deps.random));
  }
  return (task) => fetched.get(task) ?? { kind: "done" };
}

async function workTask(
  context: PublishContext,
  fetched: FetchedTask,
  {
    files,
    interrupted,
  }: Pick<TaskInputs, "interrupted"> & {
    /** Undefined for a post without media, and for a task whose inputs were not fetched. */
    readonly files: Promise<TaskFiles> | undefined;
  },
): Promise<WorkEnd<TaskEvent>> {
  if (fetched.kind !== "ready") return fetched;
  const { task, content } = fetched;
  const prepared = content.media.length === 0 ? NO_FILES : await files;
  if (prepared === undefined) throw new Error("the files of a post with media were not prepared");
  if (prepared.kind === "release") return prepared;
  if (prepared.kind === "failed" && task.status !== "reconciling") {
    const { failure } = prepared;
    const { attemptNumber } = fetched;
    return learned(task, attemptNumber, { kind: "step_failed", fence: task.fence, failure });
  }
  // A post that may be visible is searched for even if its files can no longer be prepared.
  const media =
    prepared.kind === "ready"
      ? prepared.media
      : content.media.map((one) => context.deps.media.describe(one));
  const ready = toTaskInputs(context, fetched, { media, interrupted });
  if (ready.kind !== "ready") return ready;
  return await (task.status === "reconciling"
    ? reconcileTarget(context, ready.inputs)
    : publishTarget(context, ready.inputs));
}
