import { Type, type Static, type TSchema } from "typebox";

/** A lower-case UUID, the only form that the API accepts. */
export const Id = Type.String({
  format: "uuid",
  pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
});

/** A time as the API returns it: RFC 3339, UTC, milliseconds. */
export const Instant = Type.String({ format: "date-time" });

/**
 * Returns the schema of a value or null. It is written as `type: [x, "null"]`, because that is serialised faster than a
 * union.
 */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: ["type" in schema ? schema.type : "string", "null"],
  });
}

/** Returns a reference to a schema that is registered under its `$id`. */
export function ref<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T>>({ $ref: `${"$id" in schema ? String(schema.$id) : ""}#` });
}
