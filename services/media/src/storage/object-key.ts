/** A folder and a name, as in `uploads/0199…`; lower case only, because some file systems ignore case. */
const KEY = /^[a-z][a-z0-9-]{0,31}\/[a-z0-9][a-z0-9._-]{0,127}$/;

export function isObjectKey(text: string): boolean {
  return KEY.test(text);
}

/** Every adapter calls this before it uses a key; an invalid key is a defect of this service. */
export function requireObjectKey(key: string): void {
  if (!isObjectKey(key))
    throw new Error(`${JSON.stringify(key)} is not a valid key of the object store`);
}

/** A move of an object onto itself would end with its deletion. */
export function requireMove(from: string, to: string): void {
  requireObjectKey(from);
  requireObjectKey(to);
  if (from === to) throw new Error(`the object ${from} cannot be moved onto itself`);
}
