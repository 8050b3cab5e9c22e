import { isTransientError } from "#src/bus/transient.ts";
import type { TransactionSql } from "#src/postgres.ts";

/** An item of a batch that failed even when it was processed alone, and its error. */
export interface Failure<T> {
  readonly item: T;
  readonly error: unknown;
}

/**
 * Processes all items of a batch together and, if that fails, each half of them, down to the single failing items. Each
 * try is a savepoint, so that successful halves are kept. A batch of n items with one failing item takes about
 * 2·log2(n) tries.
 *
 * @returns The items that fail alone, with their errors.
 * @throws A transient error, immediately: it does not depend on the items, so halving would only repeat it.
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

/**
 * Processes the items of a batch together and, if that fails, each half of them, like `workHalving` but without savepoints. So
 * each call of `work` must take effect as a whole or not at all.
 */
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
