import { setTimeout as sleep } from "node:timers/promises";
import type { FindPublication } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Verdict } from "#src/publishing/verdict.ts";
import type { LiveCall, LiveCheckContext, LivePost, StepFinding } from "./check-context.ts";

const LOOK_MS = 60_000;
const MAX_WAIT_MS = 5_000;

async function lookOnce(
  { publication, isOwned, stopping }: LiveCheckContext,
  find: FindPublication,
  { handles, calledAt, callUntil, isPending }: LiveCall,
): Promise<Verdict> {
  const call = {
    calledAt,
    callUntil,
    // No search of a live check may prove that the post is absent, because a proof takes ten
    // minutes.
    looks: 0,
    now: new Date(),
    timeScale: 1,
    isPending,
    isOwned,
    hasSimilarPost: () => Promise.resolve(false),
  };
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(LOOK_MS)]);
  return await find(publication, handles, call, signal);
}

export function isNotThere(verdict: Verdict): boolean {
  return (
    verdict.kind === "absent" || (verdict.kind === "look_again" && verdict.isIncomplete !== true)
  );
}

export async function lookUntil(
  context: LiveCheckContext,
  find: FindPublication,
  call: LiveCall,
  isEnd: (verdict: Verdict) => boolean,
): Promise<Verdict> {
  const endAt = performance.now() + context.patienceMs;
  for (;;) {
    const verdict = await lookOnce(context, find, call);
    const isOver = context.stopping.aborted || performance.now() > endAt;
    if (isEnd(verdict) || isOver) return verdict;
    const afterMs = verdict.kind === "look_again" ? verdict.afterMs : MAX_WAIT_MS;
    const waitMs = Math.min(afterMs, MAX_WAIT_MS, Math.max(0, endAt - performance.now()));
    await sleep(waitMs, undefined, { signal: context.stopping }).catch(() => undefined);
  }
}

export interface Looked {
  readonly finding: StepFinding;
  readonly post?: LivePost;
}

const OPEN_MS = 15_000;

function judgePresent(
  { externalId, permalink }: Extract<Verdict, { kind: "present" }>,
  expected: LivePost | undefined,
): Looked {
  if (externalId === null)
    return { finding: { status: "ok", found: "the platform says that the post exists" } };
  const isOther = expected !== undefined && expected.externalId !== externalId;
  return isOther
    ? {
        finding: {
          status: "failed",
          found: `the search found the post ${externalId}, but the call had returned ${expected.externalId}`,
        },
      }
    : {
        finding: { status: "ok", found: `the search found the post ${externalId}` },
        post: { externalId, permalink },
      };
}

const NOT_FOUND =
  "the search did not find the post: after a lost answer, Postrider could not have found it either";

function judgeMissing(verdict: Exclude<Verdict, { kind: "present" }>): StepFinding {
  if (isNotThere(verdict)) return { status: "failed", found: NOT_FOUND };
  if (verdict.kind === "cannot_tell") return { status: "warning", found: verdict.message };
  if (verdict.kind === "refused")
    return { status: "failed", found: `${verdict.code}: ${verdict.message}` };
  return verdict.kind === "repeat"
    ? {
        status: "warning",
        found: "the post could not be read; Postrider would repeat the call, which is harmless",
      }
    : { status: "failed", found: "the account's posts could not be read completely" };
}

function judge(verdict: Verdict, expected: LivePost | undefined): Looked {
  return verdict.kind === "present"
    ? judgePresent(verdict, expected)
    : { finding: judgeMissing(verdict) };
}

function isEnd({ kind }: Verdict): boolean {
  return kind !== "look_again" && kind !== "absent";
}

export async function lookAsReconciliation(
  context: LiveCheckContext,
  call: LiveCall,
  expected: LivePost | undefined,
): Promise<Looked> {
  const { connector } = context;
  const find: FindPublication = (...parameters) => connector.reconcile(...parameters);
  const verdict = await lookUntil(context, find, call, isEnd);
  return judge(verdict, expected);
}

/**
 * As after a restore. The post is found only if its text and files are on the platform as they were
 * sent.
 */
export async function lookByContent(
  context: LiveCheckContext,
  call: LiveCall,
  expected: LivePost | undefined,
): Promise<Looked> {
  const find = context.connector.findMatchingPost;
  if (find === undefined)
    return { finding: { status: "skipped", found: "the platform has no list of posts to search" } };
  const verdict = await lookUntil(context, find, { ...call, handles: {} }, isEnd);
  return judge(verdict, expected);
}

export async function lookAtUnpublished(
  context: LiveCheckContext,
  call: LiveCall,
): Promise<StepFinding> {
  const { connector } = context;
  const find: FindPublication = (...parameters) => connector.reconcile(...parameters);
  const verdict = await lookUntil(context, find, call, (each) => each.kind !== "look_again");
  if (verdict.kind === "absent")
    return { status: "ok", found: "the post exists and is not published" };
  if (verdict.kind === "present")
    return { status: "failed", found: "the post is visible, although it was not published" };
  return judge(verdict, undefined).finding;
}

export async function askForId(
  { connector, publication, stopping }: LiveCheckContext,
  askLater: Handles,
): Promise<Looked> {
  const details = await connector.findDetails?.(publication, askLater, stopping);
  if (details?.kind === "found") {
    const { externalId, permalink } = details;
    return {
      finding: { status: "ok", found: `the id is ${externalId}` },
      post: { externalId, permalink },
    };
  }
  return { finding: { status: "warning", found: "the platform has not assigned an id yet" } };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "no answer";
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}

export async function checkPermalink(
  { openPermalink, post: { visibility }, stopping }: LiveCheckContext,
  post: LivePost,
): Promise<StepFinding> {
  const { permalink } = post;
  if (permalink === null) return { status: "skipped", found: "the platform returned no permalink" };
  if (visibility !== "readers")
    return { status: "skipped", found: `only the account's owner can open ${permalink}` };
  if (openPermalink === undefined)
    return { status: "skipped", found: `the platform is simulated, and ${permalink} is not` };
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(OPEN_MS)]);
    const status = await openPermalink(permalink, signal);
    if (status < 400) return { status: "ok", found: `${permalink} answers ${status}` };
    const isGone = status === 404 || status === 410;
    return { status: isGone ? "failed" : "warning", found: `${permalink} answers ${status}` };
  } catch (error) {
    return { status: "warning", found: `${permalink} could not be opened: ${describe(error)}` };
  }
}
