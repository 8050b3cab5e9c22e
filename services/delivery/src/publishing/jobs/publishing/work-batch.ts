import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import { isPlatformId } from "@postrider/platforms/registry";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { ClaimedTask } from "#src/publishing/domain/held-task.ts";
import { forTasks, inTaskSpan } from "#src/publishing/jobs/task-span.ts";
import { askOwners, fetchMaterials, findPoison, type Group, type Material } from "./materials.ts";
import { publishTarget } from "./publish-target.ts";
import { reconcileTarget } from "./reconcile-target.ts";
import { release, report, type Workshop } from "./work.ts";

/** A newer build, which has the connector, takes the task. */
const NO_CONNECTOR_MS = 60_000;

/**
 * Works claimed tasks, side by side, each to the end of this try. Never throws: a task that cannot be given back now is
 * taken again when its lease ends.
 *
 * @param onEnd Called for each task when its work ends.
 */
export async function workBatch(
  shop: Workshop,
  tasks: readonly ClaimedTask[],
  onEnd: (task: ClaimedTask) => void,
): Promise<void> {
  failpoint("delivery.after-claim");
  const leases = new Map(tasks.map((task) => [task, shop.leases.hold(task)]));
  const work = async (task: ClaimedTask, material: Material | undefined): Promise<void> => {
    using lease = leases.get(task);
    const interrupted = AbortSignal.any([shop.stopping, ...(lease ? [lease.lost] : [])]);
    const name = task.status === "reconciling" ? "reconcile target" : "publish target";
    await inTaskSpan(name, task, async () => {
      try {
        if (findPoison(task) !== undefined) await settlePoison(shop, task);
        else if (material !== undefined) await workOne(shop, material, interrupted);
      } catch (error) {
        shop.deps.logger.error({ err: error, targetId: task.targetId }, "a task was interrupted");
        await release(shop, [task]);
      }
    });
    onEnd(task);
  };
  const poisoned = tasks.filter((task) => findPoison(task) !== undefined);
  const settled = poisoned.map((task) => work(task, undefined));
  const wholesome = tasks.filter((task) => findPoison(task) === undefined);
  const groups = await forTasks(wholesome, () => askOwners(shop, wholesome));
  const worked = groups.map(async (group) => {
    const materials = await fetchOrRelease(shop, group);
    await Promise.all(group.tasks.map((task) => work(task, materials.get(task))));
  });
  await Promise.all([...settled, ...worked]);
}

async function fetchOrRelease(
  shop: Workshop,
  group: Group,
): Promise<ReadonlyMap<ClaimedTask, Material>> {
  try {
    const materials = await fetchMaterials(shop, group);
    return new Map(materials.map((material) => [material.task, material]));
  } catch (error) {
    const { tasks } = group;
    shop.deps.logger.warn({ err: error, count: tasks.length }, "tasks given back for a moment");
    await release(shop, tasks);
    return new Map();
  }
}

async function settlePoison(shop: Workshop, task: ClaimedTask): Promise<void> {
  const happening = findPoison(task);
  if (happening !== undefined) await report(shop, task, happening);
}

function findConnector({ deps }: Workshop, task: ClaimedTask): PublishingConnector | undefined {
  return isPlatformId(task.platform) ? deps.connectors[task.platform] : undefined;
}

async function workOne(
  shop: Workshop,
  material: Material,
  interrupted: AbortSignal,
): Promise<void> {
  const { task, obstacle, attemptNumber } = material;
  if (obstacle !== undefined) {
    await report(shop, task, obstacle);
    return;
  }
  const connector = findConnector(shop, task);
  if (connector === undefined) return await release(shop, [task], NO_CONNECTOR_MS);
  const handles = shop.deps.seals.open(task, task.handles);
  const work = { ...material, task: { ...task, handles }, connector, interrupted };
  if (task.status === "reconciling")
    return await reconcileTarget(shop, { ...work, attemptNumber: task.attemptNumber });
  if (attemptNumber !== undefined) await publishTarget(shop, { ...work, attemptNumber });
}
