import { startTransition, useEffect, useMemo, useState } from "react";

/** Rows of one frame: with style, layout and paint each takes about a millisecond. */
const STEP = 3;
const FIRST = 20;

/**
 * The beginning of a list that grows: what is read later is drawn in steps, between which the page
 * goes on answering. What is there at first is drawn at once, so that a reader who comes back finds
 * the place.
 */
export function useGrowing<T>(items: readonly T[]): readonly T[] {
  const [count, setCount] = useState(() => Math.max(FIRST, items.length));
  const isWhole = count >= items.length;
  useEffect(() => {
    if (isWhole) return undefined;
    const frame = requestAnimationFrame(() => startTransition(() => setCount(count + STEP)));
    return () => cancelAnimationFrame(frame);
  }, [isWhole, count]);
  return useMemo(() => (isWhole ? items : items.slice(0, count)), [items, isWhole, count]);
}
