import { isTransientError } from "#src/bus/retries.ts";
import type { TransactionSql } from "#src/postgres.ts";

export interface Failure<T> {
  readonly item: T;
  readonly error: unknown;
}

/**
 * Processes a batch and, if that fails, each half of it, down to the failing items. Each try is a
 * savepoint, so that successful halves are kept; one failing item of n takes about 2·log2(n) tries.
 *
 * @returns The items that fail alone.
 * @throws A transient error, immediately: it does not depend on the items.
 */
export async function workHalving<T>(
  tx: TransactionSql,
  items: readonly T[],
  work: (savepoint: TransactionSql, items: readonly T[]) => Promise<void>,
  isGivenUp?: (error: unknown) => boolean,
): Promise<readonly Failure<T>[]> {
  return await tryHalving(
    items,
    async (part) => {
      await tx.savepoint((savepoint) => work(savepoint, part));
    },
    isGivenUp,
  );
}

/** Without savepoints: each call of `work` must take effect as a whole or not at all. */
export async function tryHalving<T>(
  items: readonly T[],
  work: (items: readonly T[]) => Promise<void>,
  isGivenUp: (error: unknown) => boolean = (error) => !isTransientError(error),
): Promise<readonly Failure<T>[]> {
  if (items.length === 0) return [];
  try {
    await work(items);
    return [];
  } catch (error) {
    if (!isGivenUp(error)) throw error;
    const [only] = items;
    if (items.length === 1 && only !== undefined) return [{ item: only, error }];
  }
  const middle = Math.ceil(items.length / 2);
  const first = await tryHalving(items.slice(0, middle), work, isGivenUp);
  const second = await tryHalving(items.slice(middle), work, isGivenUp);
  return [...first, ...second];
}
