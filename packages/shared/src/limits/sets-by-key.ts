export function addTo<T>(sets: Map<string, Set<T>>, key: string, item: T): void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(item));
}

/** Removes an item from the set of a key; a key without items has no set. */
export function removeFrom<T>(sets: Map<string, Set<T>>, key: string, item: T): void {
  const set = sets.get(key);
  set?.delete(item);
  if (set?.size === 0) sets.delete(key);
}
