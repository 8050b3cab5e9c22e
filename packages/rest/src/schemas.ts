import { Type, type Static, type TSchema } from "typebox";

/** Matches a lower-case UUID, the only form of an id that the API accepts. */
export const ID_PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

export const Id = Type.String({ format: "uuid", pattern: ID_PATTERN });

/** A time as the API returns it: RFC 3339, UTC, milliseconds. */
export const Instant = Type.String({ format: "date-time" });

/**
 * Returns the schema of a value or null. It is written as `type: [x, "null"]`, because that is
 * serialised faster than a union.
 */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: ["type" in schema ? schema.type : "string", "null"],
    ...("enum" in schema && Array.isArray(schema.enum)
      ? { enum: [...(schema.enum as readonly unknown[]), null] }
      : {}),
  });
}

/**
 * Gives a schema a name, under which the API description lists it. At run time the schema itself is
 * used and not a reference to it, because a reference would have to be registered with every
 * validator and serialiser that meets it.
 */
export function named<T extends TSchema>(name: string, schema: T) {
  return Type.Unsafe<Static<T>>({ ...schema, title: name });
}

/** Returns the named schema of a text that is one of the given values. */
export function enumeration(name: string, values: readonly string[], description?: string) {
  const about = description === undefined ? {} : { description };
  return named(name, Type.Unsafe<string>({ type: "string", enum: [...values], ...about }));
}

/** Returns a reference to a schema that is registered under its `$id`. */
export function ref<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T>>({ $ref: `${"$id" in schema ? String(schema.$id) : ""}#` });
}
