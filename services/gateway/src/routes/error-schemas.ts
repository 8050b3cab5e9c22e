import { PlatformIdSchema } from "@postrider/rest/platform-id";
import { enumeration, Id, Instant, named, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";
import { DETAIL_CODES, ERROR_CODES } from "#src/http/error-codes.ts";
import { SCOPES } from "#src/routes/dependencies.ts";

const ErrorCode = enumeration(
  "ErrorCode",
  ERROR_CODES,
  "Stable; programs decide by it. More codes may be added: treat an unknown one like its HTTP status.",
);

const DetailCode = enumeration(
  "DetailCode",
  [...new Set([...DETAIL_CODES, ...ERROR_CODES, ...SCOPES])],
  "Stable. More codes may be added. With `insufficient_scope` it is the scope that the key lacks.",
);

const text = (description: string) => Type.Optional(Type.String({ description }));
const count = (description: string) => Type.Optional(Type.Integer({ description }));
const number = (description: string) => Type.Optional(Type.Number({ description }));

const ErrorDetail = named(
  "ErrorDetail",
  Type.Object(
    {
      code: DetailCode,
      message: Type.String({ description: "For people; may change." }),
      path: text(
        "JSON Pointer of the faulty field of the body; with `in`, `/` and the name of a query parameter or header.",
      ),
      in: Type.Optional(
        enumeration("ErrorPlace", ["query", "header"], "Where `path` belongs, if not to the body."),
      ),
      accountId: Type.Optional({ ...Id, description: "The account that the detail is about." }),
      platform: Type.Optional(ref(PlatformIdSchema)),
      limit: number("The limit that was exceeded, in `unit`."),
      actual: number("What was sent, in `unit`."),
      unit: text(
        "Unit of `limit` and `actual`, for example `bytes`, `graphemes`, `weighted_characters` or `utf16_units`.",
      ),
      expected: text("What would be accepted, as a phrase or an example."),
      found: text(
        "What was sent: as JSON, a header or method as it was sent, the type of a longer value, or refused characters with their positions.",
      ),
      minimum: number("The smallest number that is accepted."),
      maximum: number("The largest number that is accepted."),
      allowed: Type.Optional(Type.Array(Type.String(), { description: "The accepted values." })),
      postId: Type.Optional({ ...Id, description: "The other post." }),
      plannedAt: Type.Optional({
        ...Instant,
        description: "When the other post is due, or was published.",
      }),
      status: text(
        "The status of the resource, or the HTTP status with which another server answered.",
      ),
      reason: text("What another server answered, or why a download failed."),
      used: count("Publications that are already made in the period of a quota."),
      reserved: count("Publications that are accepted and not made yet."),
      requested: count("Publications that the request needs."),
      resetsAt: Type.Optional({ ...Instant, description: "When the quota is available again." }),
      cell: text("The cell that has the workspace."),
      address: text("The address of the cell."),
    },
    {
      additionalProperties: true,
      description:
        "One fault of a request. Which fields it has depends on its code; more fields may be added.",
    },
  ),
);

/** The body of every error answer. */
export const ApiError = Type.Object(
  {
    error: Type.Object({
      code: ErrorCode,
      message: Type.String({
        description: "For people, in English or Korean (`Accept-Language`); may change.",
      }),
      details: Type.Optional(
        Type.Array(ErrorDetail, { maxItems: 100, description: "At most 100 faults." }),
      ),
    }),
  },
  { $id: "ApiError", description: "The body of every error answer." },
);
