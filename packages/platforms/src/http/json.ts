/** A JSON object whose properties are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object, which a list is not. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function property(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** The property of that name if it is a string that is not empty, else undefined. */
export function text(value: unknown, name: string): string | undefined {
  const found = property(value, name);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** The property of that name if it is a number, else undefined. */
export function number(value: unknown, name: string): number | undefined {
  const found = property(value, name);
  return typeof found === "number" ? found : undefined;
}

/** The property of that name if it is an object, else undefined. */
export function object(value: unknown, name: string): JsonObject | undefined {
  const found = property(value, name);
  return isObject(found) ? found : undefined;
}

/** The property of that name if it is a list, else an empty list. */
export function list(value: unknown, name: string): readonly unknown[] {
  const found = property(value, name);
  return Array.isArray(found) ? found : [];
}
