/**
 * The stored results of the preparation steps so far: ids, URIs and records that the platform returned or that the
 * connector chose. The caller stores them before the next call. No handle is named `kind`.
 */
export type Handles = Readonly<Record<string, string>>;

/** Reads the value that `toJsonHandle` stored; undefined when no value is stored. */
export function readJsonHandle(handles: Handles, name: string): unknown {
  const stored = handles[name];
  return stored === undefined ? undefined : JSON.parse(stored);
}

/** Stores a value as JSON in one handle. */
export function toJsonHandle(name: string, value: unknown): Handles {
  return { [name]: JSON.stringify(value) };
}
