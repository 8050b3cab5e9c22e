import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ResolveTargetRequest,
  ResolveTargetResponseSchema,
} from "@postrider/contracts/delivery/v1/task_service_pb";
import { findExternalId } from "@postrider/platforms/publishing/permalinks";
import { isPlatformId } from "@postrider/platforms/registry";
import { conflict, invalidRequest, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { targetUpdated, toTargetUpdated } from "#src/events.ts";
import { listLatestAttempts } from "#src/publishing/db/attempts.ts";
import {
  deleteHandles,
  lockTargets,
  updateAttempts,
  updateTasks,
} from "#src/publishing/db/outcomes.ts";
import type { Decision, Situation } from "#src/publishing/domain/decision.ts";
import { decideResolution, type OperatorsWord } from "#src/publishing/domain/resolution.ts";
import type { Attempt, Task } from "#src/publishing/domain/task.ts";
import type { TaskServiceDeps } from "./task-service.ts";

function parseLink(text: string): URL {
  const link = URL.parse(text);
  if (link === null || !/^https?:$/.test(link.protocol))
    throw invalidRequest([{ code: "invalid_url", path: "/publishedUrl" }]);
  return link;
}

function toWord({ platform }: Task, link: URL | undefined): OperatorsWord {
  if (link === undefined) return { kind: "absent" };
  const externalId = isPlatformId(platform) ? findExternalId(platform, link) : null;
  return { kind: "published", externalId, permalink: link.href };
}

/** The target's newest generation: the one that it is about. */
async function lockSituation(tx: TransactionSql, targetId: string): Promise<Situation> {
  const { tasks, now } = await lockTargets(tx, [{ targetId, number: 0 }]);
  const task = tasks.at(-1);
  if (task === undefined) throw notFound();
  const latest = (await listLatestAttempts(tx, [targetId])).get(targetId);
  const attempt = latest?.number === task.attemptNumber ? latest : undefined;
  return { task, siblings: tasks.slice(0, -1), attempt, now, random: 0 };
}

/** Writes the decision and its events; returns what is known now. */
async function write(
  tx: TransactionSql,
  { task, attempt: known, now }: Situation,
  { changes, attempt: result }: Decision,
): Promise<{ readonly task: Task; readonly attempt: Attempt | undefined }> {
  const tasks = changes.map((each) => each.task);
  const { targetId } = task;
  if (known !== undefined && result !== undefined)
    await updateAttempts(tx, [{ targetId, number: known.number, result }], now);
  const attempt = (await listLatestAttempts(tx, [targetId])).get(targetId);
  await updateTasks(tx, tasks);
  await deleteHandles(tx, tasks);
  await appendEvents(
    tx,
    changes.filter(({ isReported }) => isReported).map((each) => targetUpdated(each.task, attempt)),
  );
  const after = tasks.find(({ generation }) => generation === task.generation) ?? task;
  return { task: after, attempt };
}

/**
 * Takes an operator's word on an outcome that nobody else knows. Present makes it published; absent makes it a failure
 * that a retry can follow, and nothing is sent before one does.
 */
export async function resolveTarget(
  { sql }: TaskServiceDeps,
  { targetId, publishedUrl }: ResolveTargetRequest,
): Promise<MessageInitShape<typeof ResolveTargetResponseSchema>> {
  if (!isId(targetId)) throw notFound();
  const link = publishedUrl === undefined ? undefined : parseLink(publishedUrl);
  return await sql.begin(async (tx) => {
    const situation = await lockSituation(tx, targetId);
    const decision = decideResolution(situation, toWord(situation.task, link));
    if (decision === undefined) throw conflict("invalid_transition");
    const { task, attempt } = await write(tx, situation, decision);
    return { update: toTargetUpdated(task, attempt) };
  });
}
