/**
 * Handles: the stored results of a post's preparation steps. They are ids, URIs and records that
 * the platform returned or that the connector chose. The delivery service stores them before the
 * next platform call. No handle is named `kind`.
 */
export type Handles = Readonly<Record<string, string>>;

/** A handle whose value is stored as JSON. */
export interface JsonHandle<Value> {
  readonly read: (handles: Handles) => Value | undefined;
  readonly write: (value: Value) => Handles;
}

export function jsonHandle<Value>(name: string): JsonHandle<Value> {
  return {
    read: ({ [name]: stored }) =>
      stored === undefined ? undefined : (JSON.parse(stored) as Value),
    write: (value) => ({ [name]: JSON.stringify(value) }),
  };
}
