/** Puts an entry at the young end of a map; beyond `max` entries the oldest one goes. */
export function putYoungest<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  const { value: oldest, done } = map.keys().next();
  if (done !== true) map.delete(oldest);
}

/** Removes the oldest entries up to the first one that is still worth keeping. */
export function dropOldest<K, V>(map: Map<K, V>, isOver: (value: V) => boolean): void {
  for (const [key, value] of map) {
    if (!isOver(value)) return;
    map.delete(key);
  }
}
