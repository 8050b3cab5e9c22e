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
import { assertIds } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import type { Snapshot } from "#src/calls/call.ts";
import { NO_WAITS } from "#src/calls/decide-in-order.ts";
import { decide, isRefusedAsDuplicate } from "#src/calls/decide.ts";
import { toTargetUpdated } from "#src/events.ts";
import { listLatestAttempts } from "#src/publishing/db/attempts.ts";
import { settleDoubts } from "#src/publishing/db/doubts.ts";
import { hasEqualOpenCall } from "#src/publishing/db/equal-calls.ts";
import { countAttempts, TASKS, type Task } from "#src/publishing/domain/task.ts";
import { lockTargets, writeDecisions } from "#src/publishing/operations/write-decisions.ts";
import type { Dependencies } from "./dependencies.ts";

function parseLink(text: string): URL {
  const link = URL.parse(text);
  if (link === null || !/^https?:$/.test(link.protocol))
    throw invalidRequest([{ code: "invalid_url", path: "/publishedUrl" }]);
  return link;
}

function toPublished({ platform }: Task, link: URL | undefined) {
  if (link === undefined) return undefined;
  const externalId = isPlatformId(platform)
    ? findExternalId(PLATFORMS[platform].links, link)
    : null;
  return { externalId, permalink: link.href };
}

async function lockSnapshot(tx: TransactionSql, targetId: string): Promise<Snapshot<Task>> {
  const { calls, now } = await lockTargets(tx, [{ targetId, number: 0 }]);
  const call = calls.at(-1);
  if (call === undefined) throw notFound();
  const latest = (await listLatestAttempts(tx, [targetId])).get(targetId);
  const attempt = latest?.number === call.attemptNumber ? latest : undefined;
  const { policy, random } = NO_WAITS;
  const known = { call, kind: TASKS.kindOf(call), siblings: calls.slice(0, -1), attempt, now };
  return { ...known, policy, random: random() };
}

/**
 * Of an unknown outcome, or of a post that the platform refused because the account has it already.
 * "Present" makes the target published, "absent" failed with an error that allows a retry; nothing
 * is sent before that retry.
 */
export async function resolveTarget(
  { sql }: Pick<Dependencies, "sql">,
  { targetId, publishedUrl, attemptCount }: ResolveTargetRequest,
): Promise<MessageInitShape<typeof ResolveTargetResponseSchema>> {
  assertIds(targetId);
  const link = publishedUrl === undefined ? undefined : parseLink(publishedUrl);
  return await sql.begin(async (tx) => {
    const snapshot = await lockSnapshot(tx, targetId);
    const { call: task, attempt } = snapshot;
    // A later attempt may have published what was not there when the person looked.
    if (attemptCount !== undefined && attemptCount !== countAttempts(task))
      throw conflict("invalid_transition");
    // The post may be that of the other call, whose search would no longer find it and send again.
    const isPublished = link !== undefined && isRefusedAsDuplicate(task);
    if (isPublished && (await hasEqualOpenCall(tx, task))) throw conflict("invalid_transition");
    const decision = decide(snapshot, { kind: "stated", published: toPublished(task, link) });
    // The outcome is known already, or the call may still arrive at the platform.
    if (decision.changes.length === 0) throw conflict("invalid_transition");
    const updates = await writeDecisions(tx, [decision], new Map());
    await settleDoubts(tx, targetId);
    const { workspaceId, accountId, platform } = task;
    const details = { platform, accountId, outcome: link === undefined ? "absent" : "published" };
    const subject = { type: "target", id: targetId } as const;
    await appendAudit(tx, [{ action: "target.resolve", subject, workspaceId, details }]);
    const update = updates.find((each) => each.task.generation === task.generation);
    return { update: toTargetUpdated(update ?? { task, attempt }) };
  });
}
