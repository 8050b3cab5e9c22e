/**
 * Handles: the stored results of the preparation steps so far. They are ids, URIs and records that the platform
 * returned or that the connector chose. The caller stores them before the next platform call. No handle is named
 * `kind`.
 */
export type Handles = Readonly<Record<string, string>>;

/** Reads the JSON value that `toJsonHandle` stored in a handle; undefined when no value is stored. */
export function readJsonHandle(handles: Handles, name: string): unknown {
  const stored = handles[name];
  return stored === undefined ? undefined : JSON.parse(stored);
}

/** Returns one handle that stores a value as JSON. */
export function toJsonHandle(name: string, value: unknown): Handles {
  return { [name]: JSON.stringify(value) };
}
