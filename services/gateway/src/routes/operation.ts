import { ref } from "@postrider/rest/schemas";
import { type TProperties, type TSchema, Type } from "typebox";
import { defined } from "#src/http/defined.ts";
import type { ErrorCode } from "#src/http/error-codes.ts";
import type { Scope } from "#src/routes/dependencies.ts";
import { ApiError } from "#src/routes/error-schemas.ts";

/** The properties of an operation that determine most of the errors with which it can answer. */
interface Facts {
  readonly scope: Scope;
  readonly params?: TSchema;
  readonly querystring: TSchema;
  readonly headers?: TProperties;
  readonly body?: TSchema;
  readonly errors?: readonly ErrorCode[];
}

/** Errors with which every operation that needs an API key can answer. */
const ALWAYS: readonly ErrorCode[] = [
  "invalid_request",
  "workspace_required",
  "unauthenticated",
  "insufficient_scope",
  "workspace_forbidden",
  "wrong_cell",
  "rate_limited",
  "internal",
  "unavailable",
  "upstream_timeout",
];

/**
 * Returns every error with which an operation can answer: the errors that follow from its scope,
 * path, query, headers and body, and the errors that the operation lists itself.
 * `method_not_allowed` belongs to a path, not to an operation.
 */
function listErrors(facts: Facts): readonly ErrorCode[] {
  const { scope, params, querystring, headers = {}, body, errors = [] } = facts;
  const has = (schema: TSchema, name: string) =>
    "properties" in schema && name in (schema.properties as object);
  const found: (ErrorCode | readonly ErrorCode[])[] = [
    ALWAYS,
    scope === "posts:write" ? "verification_required" : [],
    params === undefined ? [] : "not_found",
    has(querystring, "cursor") ? "invalid_cursor" : [],
    body === undefined ? [] : ["payload_too_large", "unsupported_media_type"],
    "Idempotency-Key" in headers ? ["idempotency_conflict", "idempotency_key_reused"] : [],
    "If-Match" in headers ? "precondition_failed" : [],
    errors,
  ];
  return [...new Set(found.flat())];
}

interface Answer {
  readonly description: string;
  /** Schema of the answer's body; absent for an answer without a body. */
  readonly body?: TSchema;
  readonly headers?: Readonly<Record<string, object>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly scope: Scope;
  /** Whether the operation is an extension of the API contract. */
  readonly isExtension?: boolean;
  /** Maximum duration of a request to the operation, if it is not the gateway's usual one. */
  readonly timeoutMs?: number;
  /** Maximum size, in bytes, of an answer of the operation, if it can be large. */
  readonly answerBytes?: number;
  /** Maximum size, in bytes, of one entry of a list whose query has a `limit`. */
  readonly itemBytes?: number;
  readonly params?: TSchema;
  readonly querystring: TSchema;
  readonly headers?: TProperties;
  readonly body?: TSchema;
  readonly response: Readonly<Record<number, Answer>>;
  /**
   * The errors that this operation and few or no other operations have. The errors that follow from
   * its scope, path, query, headers and body are added to them.
   */
  readonly errors?: readonly ErrorCode[];
}

/**
 * The hook that reads the header checks its form, so the schema's format and pattern are for
 * readers only.
 */
const WORKSPACE_HEADER = {
  "X-Workspace-Id": Type.Optional(
    Type.String({
      format: "uuid",
      description: "UUID in lower case. Required when the key belongs to more than one workspace.",
    }),
  ),
};

/** Headers of every answer of the API, also of error answers. */
const ANSWER_HEADERS = {
  "X-Request-Id": {
    type: "string",
    description: "Id of the request; quote it when you report a problem.",
  },
  RateLimit: {
    type: "string",
    description:
      "Requests that are left, and the seconds until the whole limit is available again.",
  },
  "RateLimit-Policy": { type: "string", description: "The limit that applies, and its window." },
};

const RETRY_AFTER = { type: "integer", minimum: 1, description: "Seconds to wait." };

function describeAnswer({ description, body, headers = {} }: Answer) {
  const content =
    body === undefined
      ? { type: "null" }
      : { content: { "application/json": { schema: ref(body) } } };
  return { description, headers: { ...ANSWER_HEADERS, ...headers }, ...content };
}

/**
 * The key under which the schema of a route lists its errors, until the API description lists them
 * as answers.
 */
export const ERRORS_KEY = "x-errors";
const SCOPE_KEY = "x-postrider-scope";

/**
 * Error answers that the schema of every operation contains. The API description adds the other
 * errors of each operation.
 */
const ERRORS = {
  429: describeAnswer({
    description:
      "The workspace has used up its requests for this minute, or does not read the answers that it has requested.",
    body: ApiError,
    headers: { "Retry-After": RETRY_AFTER },
  }),
  default: describeAnswer({ description: "Any other error.", body: ApiError }),
};

export function operation(options: Operation) {
  const { scope, isExtension, timeoutMs, answerBytes, itemBytes, ...described } = options;
  const { response, tags, headers, description, errors: _errors, ...schema } = described;
  const answers = Object.entries(response).map(([status, answer]) => [
    status,
    describeAnswer(answer),
  ]);
  const needs = `Requires the scope \`${scope}\`.`;
  return {
    config: defined({ scope, timeoutMs, answerBytes, itemBytes }),
    schema: {
      ...schema,
      ...(isExtension === true ? { "x-postrider-extension": true } : {}),
      description: description === undefined ? needs : `${description} ${needs}`,
      headers: Type.Object({ ...WORKSPACE_HEADER, ...headers }),
      tags: [...tags],
      response: { ...(Object.fromEntries(answers) as Record<string, object>), ...ERRORS },
      [ERRORS_KEY]: listErrors(options),
      [SCOPE_KEY]: scope,
    },
  };
}
