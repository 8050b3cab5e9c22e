import type { CommentPage } from "@postrider/platforms/comments/connector";
import { newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { keepLease, type PolledAccount } from "#src/engagement/db/automation-accounts.ts";
import { upsertWatchedMedia } from "#src/engagement/db/automation-media.ts";
import { listRulesOfAccount } from "#src/engagement/db/automation-rules.ts";
import { insertRuns, listKnownRuns } from "#src/engagement/db/automation-runs.ts";
import { findSendingSince } from "#src/engagement/db/automation-sending.ts";
import { listAnswered } from "#src/engagement/db/private-replies.ts";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import { afterPage, type WatchedMedia } from "#src/engagement/domain/media-watch.ts";
import {
  planRuns,
  runKey,
  type PlanContext,
  type PlannedRun,
} from "#src/engagement/domain/plan-runs.ts";
import { insertPrivateReplies } from "#src/engagement/operations/insert-actions.ts";
import { countRuns } from "./automation-metrics.ts";
import type { AutomationDeps } from "./dependencies.ts";
import { matchComments } from "./match-comments.ts";

export interface PolledPage {
  readonly page: CommentPage;
  readonly media: WatchedMedia;
  /** As reported by the platform before the read. */
  readonly commentCount: number | null;
  readonly floor: Date;
  /** Active before the page of comments was read. */
  readonly rules: readonly AutomationRule[];
  readonly windowMs: number;
}

/**
 * Stores the automation rules' runs for the comments on a page, the private replies, and the
 * comment up to which the media's comments have been read, in one transaction. Returns undefined if
 * another process polls the account by now.
 */
export async function recordComments(
  { sql, settings, onActions, onEvents }: AutomationDeps,
  account: PolledAccount,
  polled: PolledPage,
): Promise<WatchedMedia | undefined> {
  const { page, media, commentCount, floor } = polled;
  const recorded = await sql.begin(async (tx) => {
    const now = await keepLease(tx, account, settings.leaseMs);
    if (now === undefined) return undefined;
    const times = page.comments.map(({ createdAt }) => createdAt);
    const read = { times, next: page.next };
    const next = afterPage(media, read, {
      floor,
      commentCount,
      pollMs: settings.commentPollMs,
      now,
    });
    await upsertWatchedMedia(tx, account, next);
    const sendingSince = settings.isSendingEnabled ? await findSendingSince(tx) : null;
    const runs = await plan(tx, account, polled, { now, sendingSince });
    await insertPlanned(tx, account, media.mediaId, runs);
    return { next, runs };
  });
  if (recorded === undefined) return undefined;
  countRuns(recorded.runs);
  if (recorded.runs.some((run) => run.plan.kind === "send")) onActions();
  if (recorded.runs.some((run) => run.plan.kind !== "send")) onEvents();
  return recorded.next;
}

async function plan(
  tx: TransactionSql,
  account: PolledAccount,
  { page, media, rules: before, windowMs }: PolledPage,
  { now, sendingSince }: { readonly now: Date; readonly sendingSince: Date | null },
): Promise<readonly PlannedRun[]> {
  const earlierIds = before.map(({ id }) => id);
  const rules = await listRulesOfAccount(tx, account, earlierIds);
  const context: PlanContext = {
    mediaId: media.mediaId,
    now,
    windowMs,
    sendingSince,
    answeredIds: new Set(),
    knownRuns: new Set(),
  };
  const match = await matchComments(rules, page.comments);
  const matched = planRuns(rules, page.comments, context, match);
  if (matched.length === 0) return [];
  const ids = [...new Set(matched.map(({ comment }) => comment.id))];
  const answeredIds = await listAnswered(tx, account, ids);
  const ruleIds = rules.map(({ id }) => id);
  const { workspaceId } = account;
  const known = await listKnownRuns(tx, { workspaceId, ruleIds, commentIds: ids });
  const knownRuns = new Set(known.map(({ ruleId, commentId }) => runKey(ruleId, commentId)));
  return planRuns(rules, page.comments, { ...context, answeredIds, knownRuns }, match);
}

async function insertPlanned(
  tx: TransactionSql,
  { workspaceId, accountId, platform }: PolledAccount,
  mediaId: string,
  planned: readonly PlannedRun[],
): Promise<void> {
  const runs = planned.map((run) => ({ ...run, id: newId() }));
  const base = { workspaceId, accountId, mediaId };
  await insertRuns(
    tx,
    runs.map(({ id, rule, comment, plan: { kind, ...rest } }) => ({
      ...base,
      id,
      ruleId: rule.id,
      commentId: comment.id,
      authorId: comment.authorId,
      authorUsername: comment.authorUsername,
      status: kind === "send" ? ("prepared" as const) : kind,
      reason: "reason" in rest ? rest.reason : null,
    })),
  );
  const replies = runs.flatMap(({ id: runId, rule, comment, plan: decided }) => {
    if (decided.kind !== "send") return [];
    const { sendBefore } = decided;
    const reply = { ruleId: rule.id, runId, commentId: comment.id, text: rule.message, sendBefore };
    return [{ ...base, ...reply, id: newId(), platform }];
  });
  const stored = await insertPrivateReplies(tx, replies);
  // While the account is locked, only this transaction stores private replies, and it has left out
  // the comments that have one. So all of these replies must be stored.
  if (stored.size !== replies.length)
    throw new Error("a comment got a second private reply; the page is read again");
}
