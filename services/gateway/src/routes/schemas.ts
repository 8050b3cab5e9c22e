import { Type } from "typebox";

export const HTTP_URL = "^[Hh][Tt][Tt][Pp][Ss]?:";

/** A time in a request, in the form that `http/timestamps.ts` parses. */
export const Time = Type.String({
  format: "date-time",
  description: "RFC 3339 with an offset, cut to milliseconds.",
});

/** An existing calendar date without a time. */
export const LocalDate = Type.String({ format: "date" });

/** Schema of the query of operations without query parameters. It refuses every query parameter. */
export const NoQuery = Type.Object({}, { additionalProperties: false });

/**
 * Schema of a path with an id. The handler checks the id, because a text that is not a UUID is
 * answered with `not_found`.
 */
export const IdParams = Type.Object({ id: Type.String({ format: "uuid" }) });

/**
 * Query parameter `cursor` of a list. Its value may contain a cursor of a platform, which is longer
 * than one of ours.
 */
export const CURSOR = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 4000,
    description: "nextCursor of the previous page; leave it out for the first page.",
  }),
);

/** Omits a route from the API description. */
export const HIDDEN: object = { hide: true };

/** Request header of operations that create something. */
export const IDEMPOTENCY_HEADERS = {
  "Idempotency-Key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: "^[!-~]*$",
      description: "Recommended. Requests with the same key are carried out once within 24 hours.",
    }),
  ),
};

/**
 * Header of an answer that repeats the answer to an earlier request with the same idempotency key.
 */
export const REPLAYED_HEADER = {
  "Idempotent-Replayed": {
    type: "string",
    const: "true",
    description: "The answer is that of an earlier request with the same key.",
  },
};

/** Headers of an answer to a request that created a resource with a path of its own. */
export const CREATED_HEADERS = {
  Location: { type: "string", description: "Path of the created resource." },
  ...REPLAYED_HEADER,
};
