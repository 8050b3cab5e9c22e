import type { TProperties, TSchema } from "typebox";
import type { ErrorCode } from "#src/http/error-codes.ts";
import type { Scope } from "#src/routes/dependencies.ts";

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
  "rate_limited",
  "internal",
  "unavailable",
  "upstream_timeout",
];

/**
 * Returns every error with which an operation can answer: the errors that follow from its scope, path, query, headers
 * and body, and the errors that the operation lists itself. `method_not_allowed` belongs to a path, not to an
 * operation.
 */
export function listErrors(facts: Facts): readonly ErrorCode[] {
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
