import type { TargetErrorCode } from "#src/posts/target-error-codes.ts";

/** English messages for a failed publishing target of a post, by error code. */
export const TARGET_MESSAGES_EN: Readonly<Record<TargetErrorCode, string>> = {
  content_rejected: "The platform refused the content. Change it and publish a new post.",
  media_rejected: "The platform refused the media. Use other files and publish a new post.",
  media_fetch_failed: "The platform could not fetch the media. Try again.",
  duplicate_on_platform: "The platform refused the content because the account already posted it.",
  permission_missing:
    "The account's connection lacks a permission. Connect it again and grant everything asked for.",
  account_reconnect_required: "The account's access has ended. Connect the account again.",
  account_disconnected: "The account was disconnected. Connect it again before you try again.",
  account_action_needed:
    "The platform asks the account's owner to act. Log in there and follow its instructions.",
  app_configuration:
    "The platform refused the operator's app. The operator has to correct its setup.",
  platform_quota: "The platform's limit for this account is used up. Try again after it resets.",
  rate_limited: "The platform accepts no more requests for now. Try again later.",
  platform_unavailable: "The platform did not answer correctly. Try again later.",
  outcome_unknown:
    "It is not known whether this was published. Check on the platform, then ask the operator to resolve it.",
  duplicate_detected:
    "The same content was found on the account, so it was not sent again. Check on the platform.",
  missed: "The service was down when this was due, and it is too late to send it.",
  internal_error: "Something went wrong on our side. Try again.",
};
