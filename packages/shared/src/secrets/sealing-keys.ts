import type { EnvReader } from "#src/config.ts";
import type { SealingKey } from "./sealing.ts";

const KEY_ENTRY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/**
 * A list of `<key id>:<base64 of 32 bytes>`, newest first. Error messages never contain the
 * entries, because they are secrets.
 */
export function readSealingKeys(read: EnvReader, name: string): readonly SealingKey[] {
  if (read.string(name) === "") return [];
  const keys = read.list(name).flatMap((entry, index) => {
    const [, id, secret] = KEY_ENTRY.exec(entry) ?? [];
    if (id !== undefined && secret !== undefined)
      return [{ id, secret: Buffer.from(secret, "base64") }];
    read.fail(name, `must list <key id>:<base64 of 32 bytes>; entry ${index + 1} is invalid`);
    return [];
  });
  if (new Set(keys.map((key) => key.id)).size < keys.length)
    read.fail(name, "contains the same key id twice");
  return keys;
}

/**
 * A key that was removed too early would fail the decryption of texts later, one by one. `what`: a
 * plural noun that operators know.
 *
 * @throws Error with the ids of the missing keys.
 */
export function requireSealingKeys(
  name: string,
  keys: readonly SealingKey[],
  { what, used }: { readonly what: string; readonly used: readonly string[] },
): void {
  const missing = used.filter((id) => !keys.some((key) => key.id === id));
  if (missing.length > 0)
    throw new Error(
      `${what} are sealed with keys that are missing in ${name}: ${missing.join(", ")}; add them again`,
    );
}
