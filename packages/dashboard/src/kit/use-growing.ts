import { startTransition, useEffect, useMemo, useState } from "react";

/** 100 rows at once take 50 ms until they are in the page, most of it for style and layout. */
const STEP = 40;

/**
 * The beginning of a list that grows: what is read later is drawn in steps, between which the page
 * goes on answering. What is there at first is drawn at once, so that a reader who comes back finds
 * the place.
 */
export function useGrowing<T>(items: readonly T[]): readonly T[] {
  const [count, setCount] = useState(() => Math.max(STEP, items.length));
  const isWhole = count >= items.length;
  useEffect(() => {
    if (!isWhole) startTransition(() => setCount(count + STEP));
  }, [isWhole, count]);
  return useMemo(() => (isWhole ? items : items.slice(0, count)), [items, isWhole, count]);
}
