import type { UnknownCall } from "#src/publishing/verdict.ts";

/** A call of the last second with an unknown outcome, before its first look; its waits are a thousandth of the real ones. */
export function unknownCall(given: Partial<UnknownCall> = {}): UnknownCall {
  const now = new Date();
  return {
    calledAt: new Date(now.getTime() - 1000),
    callUntil: now,
    looks: 0,
    now,
    timeScale: 0.001,
    isOwned: () => Promise.resolve(new Set()),
    ...given,
  };
}
