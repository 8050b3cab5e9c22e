/**
 * Finds by binary search the index of the first list item for which `test` is true, or the list's
 * length when there is none. The caller guarantees that `test` is also true for every later item.
 */
export function firstIndexWhere<T>(list: readonly T[], test: (item: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && test(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
