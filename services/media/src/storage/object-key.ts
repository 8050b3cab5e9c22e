/** Lower case only, because some file systems ignore case. */
const KEY = /^[a-z][a-z0-9-]{0,31}\/[a-z0-9][a-z0-9._-]{0,127}$/;

export function isObjectKey(text: string): boolean {
  return KEY.test(text);
}

/** An invalid key is a defect of the media service. Every store checks before it uses a key. */
export function requireObjectKey(key: string): void {
  if (!isObjectKey(key))
    throw new Error(`${JSON.stringify(key)} is not a valid key of the object store`);
}

/** A move of an object onto itself would delete it. */
export function requireMove(from: string, to: string): void {
  requireObjectKey(from);
  requireObjectKey(to);
  if (from === to) throw new Error(`the object ${from} cannot be moved onto itself`);
}
