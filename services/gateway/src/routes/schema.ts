import { Type, type Static, type TSchema } from "typebox";

/** Lower-case UUID, the only form the interface accepts. */
export const Id = Type.String({
  format: "uuid",
  pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
});

/** RFC 3339, UTC, milliseconds. */
export const Instant = Type.String({ format: "date-time" });

/** A time in a request; `domain/timestamps.ts` says which texts are one. */
export const Time = Type.String({
  format: "date-time",
  description: "RFC 3339 with an offset; more than 3 decimals are cut.",
});

/** A calendar date that exists, without a time. */
export const LocalDate = Type.String({ format: "date" });

/** `type: [x, "null"]`, which serialises faster than a union. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: ["type" in schema ? schema.type : "string", "null"],
  });
}

/** A reference to a schema that is registered under its `$id`. */
export function ref<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T>>({ $ref: `${"$id" in schema ? String(schema.$id) : ""}#` });
}

/** No query parameters: every one sent is refused. */
export const NoQuery = Type.Object({}, { additionalProperties: false });

/** A path id is checked by the handler: what is no id is simply not found. */
export const IdParams = Type.Object({ id: Type.String({ format: "uuid" }) });

export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.String({ description: "Stable; branch on it." }),
      message: Type.String({ description: "For people; may change." }),
      details: Type.Optional(
        Type.Array(
          Type.Object(
            { code: Type.String(), message: Type.String() },
            { additionalProperties: true },
          ),
          { maxItems: 100 },
        ),
      ),
    }),
  },
  { $id: "Error" },
);

/** Leaves a route out of the API description. */
export const HIDDEN: object = { hide: true };
