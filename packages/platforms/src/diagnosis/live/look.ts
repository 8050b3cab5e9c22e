import { setTimeout as sleep } from "node:timers/promises";
import type { FindPublication } from "#src/publishing/connector.ts";
import type { Verdict } from "#src/publishing/verdict.ts";
import type { LiveCall, LiveCheckContext } from "./check-context.ts";

const LOOK_MS = 60_000;
const MAX_WAIT_MS = 5_000;

export async function lookOnce(
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
