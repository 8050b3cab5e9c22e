import type { ErrorCode, ViolationCode } from "#src/http/error-codes.ts";

/**
 * English messages of API errors and error details, by code. A part in square brackets is omitted if one of its
 * parameters is missing.
 */
export const MESSAGES_EN: Readonly<Record<ErrorCode | ViolationCode, string>> = {
  invalid_request: "The request is not valid. Correct what the details name and send it again.",
  workspace_required:
    "This API key belongs to several workspaces. Name one in the X-Workspace-Id header.",
  invalid_cursor:
    "The cursor does not belong to this list. Start again without a cursor, or keep the filters it was made for.",
  unauthenticated:
    "No valid API key was sent. Send one in the header Authorization: Bearer <API_KEY>.",
  insufficient_scope:
    "This API key lacks the scope that the operation needs. Use a key that has it.",
  workspace_forbidden:
    "This API key does not belong to the workspace named in X-Workspace-Id. Name one that it belongs to.",
  verification_required:
    "This workspace is not verified yet. It can read and validate; ask the operator to verify it before posting.",
  not_found: "This does not exist. Check the path and the id.",
  method_not_allowed:
    "This path does not support the method. The Allow header lists the ones that it does.",
  post_not_editable: "The post can no longer be changed. Only drafts and scheduled posts can.",
  upload_already_received:
    "The file for this upload has already arrived. Complete it, or ask for a new upload.",
  account_reconnect_required:
    "The account's access has ended. Connect the account again, then repeat the request.",
  post_publishing:
    "The post is being published right now. Wait until it has finished, then try again.",
  nothing_to_retry: "The post has no failed target that could be sent again.",
  duplicate_content:
    "The same content was already sent to this account in the last 24 hours. Change it, or set force to send it anyway.",
  no_queue_slot: "The queue has no free slot. Add or resume a rule, or choose a time yourself.",
  media_in_use: "A post uses this media. Delete or change the post first.",
  media_not_uploaded:
    "The file has not been uploaded yet. Upload it first, then complete the upload.",
  delivery_not_failed: "Only a failed delivery can be sent again.",
  invalid_transition: "The current status does not allow this. Read the resource and try again.",
  idempotency_conflict:
    "A request with this Idempotency-Key is being processed. Wait a moment and send the same request again.",
  precondition_failed:
    "The resource has changed since it was read. Read it again and use its new ETag.",
  payload_too_large:
    "The request is too large[: {actual} bytes, at most {limit} are allowed]. Send less.",
  unsupported_media_type:
    "The content type is not supported. Send application/json in UTF-8, or with an upload the type that was declared.",
  validation_failed:
    "The request cannot be carried out. Correct what the details name and send it again.",
  quota_exceeded:
    "The publication quota does not allow this. The details say which limit was reached and when it resets.",
  idempotency_key_reused:
    "This Idempotency-Key was used for a different request. Use a new key for a new request.",
  media_rejected:
    "The file differs from its declaration or is not allowed. Check its type and its size and upload another.",
  import_failed:
    "The file could not be downloaded. Check that the URL is reachable and answers with the file itself.",
  address_not_allowed: "The URL leads to an address that is not public. Use a public address.",
  rate_limited: "Too many requests. Wait as long as Retry-After says and try again.",
  internal:
    "Something went wrong on our side. Try again, and report the request id if it persists.",
  unavailable:
    "The service cannot answer right now. Wait as long as Retry-After says and try again.",
  upstream_timeout: "A service took too long to answer. Read the resource before you try again.",

  content_required: "The post has neither text nor media. Add one of them.",
  content_too_long:
    "The text is too long[: it counts {actual}, at most {limit} is allowed]. Shorten it.",
  too_many_hashtags:
    "The text has too many hashtags[: {actual}, at most {limit} are allowed]. Remove some.",
  too_many_mentions:
    "The text has too many mentions[: {actual}, at most {limit} are allowed]. Remove some.",
  alt_text_too_long:
    "The description of this media is too long for the platform[: it has {actual} characters, at most {limit} are allowed]. Shorten it.",
  media_required: "This platform does not accept a post without media. Add an image or a video.",
  too_few_media: "There are too few media[: {actual}, at least {limit} are needed]. Add some.",
  too_many_media: "There are too many media[: {actual}, at most {limit} are allowed]. Remove some.",
  media_mix_unsupported:
    "This platform does not accept these kinds of media in one post. Send one kind only.",
  media_type_unsupported: "This type of file is not accepted here. Use another format.",
  media_too_large:
    "The file is too large[: {actual} bytes, at most {limit} are allowed]. Use a smaller one.",
  media_dimensions:
    "The width, height or aspect ratio of this media is not accepted[: {actual}, the limit is {limit}]. Resize or crop it.",
  media_duration:
    "The length of this video is not accepted[: {actual} s, the limit is {limit} s]. Cut it to fit.",
  title_required: "This platform needs a title. Set it in the options.",
  title_too_long:
    "The title is too long[: it counts {actual}, at most {limit} is allowed]. Shorten it.",
  title_unsupported: "This platform has no titles. Remove the title.",
  privacy_required: "This platform needs a choice of privacy. Set it in the options.",
  privacy_unsupported: "This platform does not offer this privacy. Choose another or omit it.",
  tags_unsupported:
    "This platform has no field for tags. Remove them, or write hashtags into the text.",
  tags_too_long:
    "The tags are too long[: they count {actual}, at most {limit} is allowed]. Remove some.",
  forbidden_characters:
    "The text has characters that are refused[: {actual} combining marks in a row, at most {limit} are allowed]. Remove them.",
  unknown_account: "This workspace has no such connected account. Check the id.",
  platform_unavailable: "This platform is not available here. The operator has not set it up.",
  unknown_media: "This workspace has no such media. Check the id.",
  media_not_ready: "The media is not ready yet. Complete its upload first.",
  media_type_mismatch: "The type of the file differs from the declared one. Declare its real type.",
  media_length_mismatch:
    "The length of the file differs from the declared one[: {actual} bytes instead of {limit}]. Send all of it.",
  media_unreadable: "The file is damaged or cut off. Upload a complete one.",
  unknown_option_key:
    "This option belongs to no target of the post. Use a platform or the id of one of its accounts.",
  schedule_in_past: "The time is in the past. Choose a later one, or omit it to publish now.",
  schedule_too_far:
    "The time is too far in the future[: at most {limit} days ahead]. Choose an earlier one.",
  monthly:
    "The monthly quota does not allow this[: the limit is {limit}, used {used}, reserved {reserved}, requested {requested}].",
  storage:
    "The storage limit does not allow this[: the limit is {limit} bytes, used {used}, reserved {reserved}, requested {requested}].",
  pending_uploads:
    "The workspace has too many uploads that are not complete[: at most {limit}]. Complete some first, or wait until they expire.",
  daily:
    "The daily limit does not allow this[: the limit is {limit}, used {used}, reserved {reserved}, requested {requested}].",
  too_many_rules:
    "The workspace has too many queue slot rules[: at most {limit}]. Delete one first.",
  too_many_subscriptions:
    "The workspace has too many webhook subscriptions[: at most {limit}]. Revoke one first.",
  platform_unsupported: "This feature does not exist on the account's platform.",
  permission_missing:
    "The account's connection lacks the permission for this. Connect the account again and grant everything asked for.",
  outcome_unknown:
    "It is not known whether this was published. Check on the platform, then ask the operator to resolve it.",

  required: "This field is missing. Add it.",
  type: "This value has the wrong type.",
  format: "This value does not have the expected form.",
  additional_property: "This field does not exist here. Remove it.",
  unique: "This item occurs more than once. Remove the duplicates.",
  min_items: "There are too few items[: {actual}, at least {limit} are needed].",
  max_items: "There are too many items[: {actual}, at most {limit} are allowed].",
  too_long: "This text is too long[: {actual} characters, at most {limit} are allowed].",
  too_many_bytes:
    "This text is too long[: {actual} bytes in UTF-8, at most {limit} are allowed]. Shorten it.",
  too_short: "This text is too short[: {actual} characters, at least {limit} are needed].",
  too_small: "This number is too small[: {actual}, at least {limit} is needed].",
  too_large: "This number is too large[: {actual}, at most {limit} is allowed].",
  min_properties: "There are too few fields[: {actual}, at least {limit} is needed].",
  max_properties: "There are too many fields[: {actual}, at most {limit} are allowed].",
  not_allowed: "This value is not one of those that are allowed.",
  invalid: "This value is not valid.",
  repeated_parameter: "This parameter occurs more than once. Send it once.",
  exclusive_fields: "These fields cannot be used together. Send only one of them.",
  range_reversed: "The range ends before it begins. Swap the two values.",
  unknown_timezone: "There is no such time zone. Use a name such as Europe/Berlin.",
  ends_before_start: "The last date is before the first one. Correct one of them.",
  invalid_json: "The body is not valid JSON.",
  invalid_utf8: "The body is not valid UTF-8.",
  nul_character: "The text has a NUL character. Remove it.",
  unpaired_surrogate: "The text has half of a surrogate pair. Send complete characters.",
  too_deep: "The body is nested too deeply[: at most {limit} levels are allowed].",
  too_many_headers: "The request has too many headers[ (at most {limit})].",
  invalid_header:
    "This header is malformed. An Idempotency-Key has 1 to 255 visible ASCII characters, an X-Workspace-Id is a UUID in lower case.",
};
