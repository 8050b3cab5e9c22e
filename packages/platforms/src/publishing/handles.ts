/**
 * What the steps have produced so far: ids, URIs and records that the platform returned or that the connector chose. The
 * caller stores them before the next call. No handle is named `kind`.
 */
export type Handles = Readonly<Record<string, string>>;

/** Reads a handle that `toJsonHandle` wrote; undefined when it is not stored. */
export function readJsonHandle<Value>(handles: Handles, name: string): Value | undefined {
  const stored = handles[name];
  return stored === undefined ? undefined : (JSON.parse(stored) as Value);
}

/** Stores a value as JSON in one handle. */
export function toJsonHandle(name: string, value: unknown): Handles {
  return { [name]: JSON.stringify(value) };
}
