/**
 * The fields of a body that differ from how it was when it was opened. Only these are sent: what
 * another person has changed meanwhile stays.
 */
export function changedFields<T extends object>(opened: T, written: T): Partial<T> {
  const before = new Map<string, unknown>(Object.entries(opened));
  const changed = Object.entries(written).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before.get(name)),
  );
  return Object.fromEntries(changed) as Partial<T>;
}

/** The server refuses a change of nothing. */
export function isEmpty(changes: object): boolean {
  return Object.keys(changes).length === 0;
}
