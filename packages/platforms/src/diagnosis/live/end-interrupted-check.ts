import {
  keepingPost,
  type LiveCheckContext,
  type LiveCheckEnd,
  type LiveCheckStep,
  type LivePost,
  recordFinding,
  recordStep,
  type StepFinding,
} from "./check-context.ts";
import { DELETE_STEP, deletePost, nameRest } from "./delete-steps.ts";
import type { LeastVisible } from "./least-visible.ts";
import { lookUntil } from "./read-steps.ts";

export interface InterruptedCheck {
  readonly steps: readonly LiveCheckStep[];
  readonly calledAt: Date | undefined;
  readonly callUntil: Date;
  readonly post: LivePost | undefined;
}

export const INTERRUPTION = "interruption";

export function mayHaveLeftPost(
  { steps, calledAt, post }: InterruptedCheck,
  { visibility }: LeastVisible,
): boolean {
  if (post !== undefined) return true;
  if (steps.some(({ name, status }) => name === DELETE_STEP && status === "ok")) return false;
  // A post that stays unpublished is created by the preparation, so it may exist although no
  // publishing call was made.
  return visibility === "unpublished" || calledAt !== undefined;
}

export function describeInterruption({ steps }: Pick<InterruptedCheck, "steps">): LiveCheckStep {
  const last = steps.at(-1);
  const place = last === undefined ? "in step 1" : `after step ${steps.length} (“${last.name}”)`;
  const found = `the check was interrupted ${place}, for example because the delivery service stopped. It proves nothing about the steps that were left: repeat it`;
  return { name: INTERRUPTION, status: "failed", found, tookMs: 0 };
}

interface Searched {
  readonly finding: StepFinding;
  readonly post?: LivePost;
}

/**
 * The publishing call may reach the platform until `callUntil`, so the search lasts until after
 * this time.
 */
async function findLost(
  context: LiveCheckContext,
  { calledAt, callUntil }: InterruptedCheck,
): Promise<Searched> {
  const find = context.connector.findMatchingPost;
  if (find === undefined || calledAt === undefined)
    return {
      finding: { status: "skipped", found: "the platform has no list that shows the post" },
    };
  const patienceMs = context.patienceMs + Math.max(0, callUntil.getTime() - Date.now());
  const call = { handles: {}, calledAt, callUntil, isPending: false };
  const isEnd = ({ kind }: { readonly kind: string }) => kind === "present";
  const verdict = await lookUntil({ ...context, patienceMs }, find, call, isEnd);
  if (verdict.kind !== "present" || verdict.externalId === null)
    return { finding: { status: "warning", found: "the search did not find the post" } };
  const { externalId, permalink } = verdict;
  const found = `the search found the post ${externalId}`;
  return { finding: { status: "ok", found }, post: { externalId, permalink } };
}

async function findPost(
  context: LiveCheckContext,
  interrupted: InterruptedCheck,
): Promise<LivePost | undefined> {
  if (interrupted.post !== undefined) return interrupted.post;
  const name = "find it by its content";
  const { post } = await recordStep(context, name, () =>
    keepingPost(context, findLost(context, interrupted)),
  );
  return post;
}

/**
 * Searches for the post that the check may have left and deletes it. Never publishes. `interrupted`
 * = this process stops too, so that another one must continue.
 */
export async function endInterruptedCheck(
  context: LiveCheckContext,
  interrupted: InterruptedCheck,
): Promise<LiveCheckEnd> {
  const { journal, stopping } = context;
  await journal.addStep(describeInterruption(interrupted));
  if (!mayHaveLeftPost(interrupted, context.post)) return "ended";
  const post = await findPost(context, interrupted);
  if (post === undefined && stopping.aborted) return "interrupted";
  const deleted = await recordFinding(context, DELETE_STEP, () =>
    post === undefined ? nameRest(context) : deletePost(context, post),
  );
  if (deleted.status === "ok") await journal.dropPost();
  return deleted.status === "failed" && stopping.aborted ? "interrupted" : "ended";
}
