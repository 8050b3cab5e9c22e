/**
 * Handles: the stored results of a post's preparation steps. They are ids, URIs and records that
 * the platform returned or that the connector chose. The delivery service stores them before the
 * next platform call. No handle is named `kind`.
 */
export type Handles = Readonly<Record<string, string>>;

export function readJsonHandle(handles: Handles, name: string): unknown {
  const stored = handles[name];
  return stored === undefined ? undefined : JSON.parse(stored);
}

export function toJsonHandle(name: string, value: unknown): Handles {
  return { [name]: JSON.stringify(value) };
}
