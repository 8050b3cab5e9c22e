import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ResolveTargetRequest,
  ResolveTargetResponseSchema,
} from "@postrider/contracts/delivery/v1/task_service_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { PLATFORMS } from "@postrider/platforms/platforms";
import { findExternalId } from "@postrider/platforms/publishing/permalinks";
import { appendAudit } from "@postrider/shared/audit/append";
import { conflict, invalidRequest, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { toTargetUpdated } from "#src/events.ts";
import { listLatestAttempts } from "#src/publishing/db/attempts.ts";
import { settleDoubts } from "#src/publishing/db/doubts.ts";
import type { TaskSnapshot } from "#src/publishing/domain/decision.ts";
import { decideResolution, type OperatorsWord } from "#src/publishing/domain/resolution.ts";
import type { Task } from "#src/publishing/domain/task.ts";
import { lockTargets, writeDecisions } from "#src/publishing/operations/write-decisions.ts";
import type { Dependencies } from "./dependencies.ts";

function parseLink(text: string): URL {
  const link = URL.parse(text);
  if (link === null || !/^https?:$/.test(link.protocol))
    throw invalidRequest([{ code: "invalid_url", path: "/publishedUrl" }]);
  return link;
}

function toWord({ platform }: Task, link: URL | undefined): OperatorsWord {
  if (link === undefined) return { kind: "absent" };
  const externalId = isPlatformId(platform)
    ? findExternalId(PLATFORMS[platform].links, link)
    : null;
  return { kind: "published", externalId, permalink: link.href };
}

/**
 * Locks a target and returns the task of its latest publish request, with the latest attempt if that attempt
 * has ended.
 */
async function lockSnapshot(tx: TransactionSql, targetId: string): Promise<TaskSnapshot> {
  const { tasks, now } = await lockTargets(tx, [{ targetId, number: 0 }]);
  const task = tasks.at(-1);
  if (task === undefined) throw notFound();
  const latest = (await listLatestAttempts(tx, [targetId])).get(targetId);
  const attempt = latest?.number === task.attemptNumber ? latest : undefined;
  return { task, siblings: tasks.slice(0, -1), attempt, now, random: 0 };
}

/**
 * Records an operator's statement about a publishing call whose outcome cannot be found on the platform. The statement
 * "present" makes the target published. "Absent" makes the target failed with an error that allows a retry; nothing is sent
 * before that retry.
 */
export async function resolveTarget(
  { sql }: Pick<Dependencies, "sql">,
  { targetId, publishedUrl }: ResolveTargetRequest,
): Promise<MessageInitShape<typeof ResolveTargetResponseSchema>> {
  if (!isId(targetId)) throw notFound();
  const link = publishedUrl === undefined ? undefined : parseLink(publishedUrl);
  return await sql.begin(async (tx) => {
    const { task, ...known } = await lockSnapshot(tx, targetId);
    const resolution = decideResolution({ task, ...known }, toWord(task, link));
    if (resolution.kind === "not_in_question") throw conflict("invalid_transition");
    const updates = await writeDecisions(tx, [resolution.decision], new Map());
    await settleDoubts(tx, targetId);
    const { workspaceId, accountId, platform } = task;
    const details = { platform, accountId, outcome: link === undefined ? "absent" : "published" };
    const subject = { type: "target", id: targetId } as const;
    await appendAudit(tx, [{ action: "target.resolve", subject, workspaceId, details }]);
    const update = updates.find((each) => each.task.generation === task.generation);
    return { update: toTargetUpdated(update ?? { task, attempt: known.attempt }) };
  });
}
