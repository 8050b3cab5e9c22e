import { useIsLate } from "./use-is-late.ts";

const LATE_AFTER_MS = 300;

/**
 * Whether a screen may be drawn: what would move its parts under the pointer is known, or was not
 * answered in 300 ms.
 */
export function useIsSettled(isWaiting: boolean): boolean {
  return useIsLate(isWaiting, LATE_AFTER_MS) || !isWaiting;
}
