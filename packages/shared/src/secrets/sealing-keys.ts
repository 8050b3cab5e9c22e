import type { EnvReader } from "#src/config.ts";
import type { SealingKey } from "./sealing.ts";

const KEY_ENTRY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/**
 * Reads a variable with `kid:base64 of 32 bytes`, comma separated, newest first; at least one. Entries are never repeated
 * in a message: they are keys.
 */
export function readSealingKeys(read: EnvReader, name: string): readonly SealingKey[] {
  if (read.string(name) === "") return [];
  const keys = read.list(name).flatMap((entry, index) => {
    const [, id, secret] = KEY_ENTRY.exec(entry) ?? [];
    if (id !== undefined && secret !== undefined)
      return [{ id, secret: Buffer.from(secret, "base64") }];
    read.fail(name, `has no kid:base64 of 32 bytes at place ${index + 1}`);
    return [];
  });
  if (new Set(keys.map((key) => key.id)).size < keys.length)
    read.fail(name, "names two keys alike");
  return keys;
}

/**
 * A key that was taken out of the configuration too early would make things fail later, one by one.
 *
 * @param what In the plural, as an operator knows it.
 * @throws Error Names the keys that something is sealed with and that the variable has not.
 */
export function requireSealingKeys(
  name: string,
  keys: readonly SealingKey[],
  { what, used }: { readonly what: string; readonly used: readonly string[] },
): void {
  const missing = used.filter((id) => !keys.some((key) => key.id === id));
  if (missing.length > 0)
    throw new Error(`${what} are sealed with keys that ${name} has not: ${missing.join(", ")}`);
}
