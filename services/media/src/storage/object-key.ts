/** `uploads/0199…`: a folder and a name, both without upper case, for some file systems do not tell the cases apart. */
const KEY = /^[a-z][a-z0-9-]{0,31}\/[a-z0-9][a-z0-9._-]{0,127}$/;

export function isObjectKey(text: string): boolean {
  return KEY.test(text);
}

/** Every adapter asks before it does anything with a key: one that we did not make is a defect of ours. */
export function requireObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new Error(`no key of the object store: ${JSON.stringify(key)}`);
}

/** A move to the same place would end in a deletion. */
export function requireMove(from: string, to: string): void {
  requireObjectKey(from);
  requireObjectKey(to);
  if (from === to) throw new Error(`an object cannot be moved to where it is: ${from}`);
}
