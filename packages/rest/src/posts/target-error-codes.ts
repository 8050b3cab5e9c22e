/**
 * Every code that the API returns in the `error.code` of a publishing target (an account to which a post is published).
 */
export const TARGET_ERROR_CODES = [
  "content_rejected",
  "media_rejected",
  "media_fetch_failed",
  "duplicate_on_platform",
  "permission_missing",
  "account_reconnect_required",
  "account_disconnected",
  "account_action_needed",
  "app_configuration",
  "platform_quota",
  "rate_limited",
  "platform_unavailable",
  "outcome_unknown",
  "duplicate_detected",
  "missed",
  "internal_error",
] as const;

/** One of the codes that the API returns in the `error.code` of a publishing target. */
export type TargetErrorCode = (typeof TARGET_ERROR_CODES)[number];
