import { isTooSlow } from "#src/bus/batch-size.ts";
import { isTransientError } from "#src/bus/retries.ts";

/**
 * Whether work exceeded a limit of the database or was refused, so that it may succeed with other
 * items.
 */
export function isOfItems(error: unknown, startedAt: number): boolean {
  return isTooSlow(error, performance.now() - startedAt) || !isTransientError(error);
}

/**
 * Does work on items with one statement, or in halves if it exceeds a limit of the database or is
 * refused. An item that does so alone is skipped. Returns what each statement returned.
 */
export async function inHalves<T, R>(
  items: readonly T[],
  work: (items: readonly T[]) => Promise<R>,
  onSkipped: (item: T, error: unknown) => void,
): Promise<readonly R[]> {
  const [first] = items;
  if (first === undefined) return [];
  const startedAt = performance.now();
  try {
    return [await work(items)];
  } catch (error) {
    if (!isOfItems(error, startedAt)) throw error;
    if (items.length === 1) {
      onSkipped(first, error);
      return [];
    }
  }
  const middle = Math.ceil(items.length / 2);
  const done = await inHalves(items.slice(0, middle), work, onSkipped);
  return [...done, ...(await inHalves(items.slice(middle), work, onSkipped))];
}
