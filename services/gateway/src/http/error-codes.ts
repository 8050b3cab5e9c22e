/** Every code that the API returns in `error.code`. */
export const ERROR_CODES = [
  "invalid_request",
  "workspace_required",
  "invalid_cursor",
  "unauthenticated",
  "insufficient_scope",
  "workspace_forbidden",
  "verification_required",
  "not_found",
  "method_not_allowed",
  "post_not_editable",
  "upload_already_received",
  "account_reconnect_required",
  "post_publishing",
  "nothing_to_retry",
  "duplicate_content",
  "no_queue_slot",
  "media_in_use",
  "media_not_uploaded",
  "delivery_not_failed",
  "invalid_transition",
  "idempotency_conflict",
  "precondition_failed",
  "payload_too_large",
  "unsupported_media_type",
  "validation_failed",
  "quota_exceeded",
  "idempotency_key_reused",
  "media_rejected",
  "import_failed",
  "address_not_allowed",
  "rate_limited",
  "internal",
  "unavailable",
  "upstream_timeout",
] as const;

/** One of the codes that the API returns in `error.code`. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * Every code that the API returns in `error.details[].code`. Names of scopes, and error codes that are also used there,
 * are not listed.
 */
export const VIOLATION_CODES = [
  // Error detail codes for a post that a platform would refuse.
  "content_required",
  "content_too_long",
  "too_many_hashtags",
  "too_many_mentions",
  "media_required",
  "too_few_media",
  "too_many_media",
  "media_mix_unsupported",
  "media_type_unsupported",
  "media_too_large",
  "media_dimensions",
  "media_duration",
  "alt_text_too_long",
  "title_required",
  "title_too_long",
  "title_unsupported",
  "privacy_required",
  "privacy_unsupported",
  "tags_unsupported",
  "tags_too_long",
  "forbidden_characters",
  "unknown_account",
  "platform_unavailable",
  "unknown_media",
  "media_not_ready",
  // Error detail codes for a media file that differs from its declared type or length.
  "media_type_mismatch",
  "media_length_mismatch",
  "media_unreadable",
  "unknown_option_key",
  "schedule_in_past",
  "schedule_too_far",
  // Error detail codes for exceeded limits, and for resources whose state does not allow the operation.
  "monthly",
  "daily",
  "storage",
  "pending_uploads",
  "too_many_rules",
  "too_many_subscriptions",
  "platform_unsupported",
  "permission_missing",
  "outcome_unknown",
  // Error detail codes for malformed requests.
  "required",
  "type",
  "format",
  "additional_property",
  "unique",
  "min_items",
  "max_items",
  "too_long",
  "too_many_bytes",
  "too_short",
  "too_small",
  "too_large",
  "min_properties",
  "max_properties",
  "not_allowed",
  "invalid",
  "repeated_parameter",
  "exclusive_fields",
  "range_reversed",
  "unknown_timezone",
  "ends_before_start",
  "invalid_json",
  "invalid_utf8",
  "nul_character",
  "unpaired_surrogate",
  "too_deep",
  "invalid_header",
  "too_many_headers",
] as const;

/** One of the codes that the API returns in `error.details[].code`. */
export type ViolationCode = (typeof VIOLATION_CODES)[number];

const KNOWN_ERRORS: ReadonlySet<string> = new Set(ERROR_CODES);

/** Whether the text is one of the codes that the API returns in `error.code`. */
export function isErrorCode(text: string): text is ErrorCode {
  return KNOWN_ERRORS.has(text);
}
