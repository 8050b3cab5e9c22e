import { randomBytes } from "node:crypto";
import { type Call, Refused, type Reply } from "#src/http/call.ts";

const ERRORS = {
  access_token_invalid: [401, "The access token is invalid or not found in the request."],
  scope_not_authorized: [401, "The user did not authorize the scope required for this request."],
  rate_limit_exceeded: [429, "The API rate limit was exceeded. Please try again later."],
  spam_risk_too_many_posts: [403, "The daily post cap from the API is reached for the user."],
  reached_active_user_cap: [
    403,
    "The daily quota for active publishing users from the client is reached.",
  ],
  spam_risk_user_banned_from_posting: [403, "The user is banned from making new posts."],
  unaudited_client_can_only_post_to_private_accounts: [
    403,
    "Unaudited clients can only post to a private account.",
  ],
  url_ownership_unverified: [
    403,
    "Please verify the ownership of the URL prefix or the domain in the developer portal.",
  ],
  privacy_level_option_mismatch: [
    403,
    "The privacy level is not one of the privacy_level_options of creator_info.",
  ],
  invalid_params: [400, "The request is invalid or misses a parameter."],
  invalid_publish_id: [400, "The publish_id does not exist."],
  token_not_authorized_for_specified_publish_id: [
    403,
    "The access token does not have authorization for this publish_id.",
  ],
  internal_error: [500, "Something is wrong. Please try again later."],
  not_found: [404, "The path does not exist."],
} as const;

export type ErrorCode = keyof typeof ERRORS;

function logId(): string {
  return `2026${randomBytes(14).toString("hex").toUpperCase()}`;
}

/** The first of TikTok's three response formats. */
export function apiAnswer(data: unknown): Reply {
  return { status: 200, body: { data, error: { code: "ok", message: "", log_id: logId() } } };
}

/** Returns the fields of a resource that the call asks for. */
export function pickFields(
  { query }: Call,
  resource: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const fields = (query.get("fields") ?? "").split(",").filter((name) => name !== "");
  const unknown = fields.find((name) => !(name in resource));
  if (fields.length === 0 || unknown !== undefined)
    refuseParameter(`The fields are missing or unknown: ${unknown ?? ""}`);
  return Object.fromEntries(fields.map((name) => [name, resource[name]]));
}

export function apiError(code: ErrorCode, message: string = ERRORS[code][1]): Reply {
  const [status] = ERRORS[code];
  return { status, body: { data: {}, error: { code, message, log_id: logId() } } };
}

export function refuse(code: ErrorCode, message?: string): never {
  throw new Refused(apiError(code, message));
}

export function refuseParameter(message: string): never {
  return refuse("invalid_params", message);
}

/**
 * The second format, of the token endpoints. Even responses to invalid requests have status 200.
 */
export function oauthError(status: number, error: string, description: string): Reply {
  return { status, body: { error, error_description: description, log_id: logId() } };
}

/** The third format, of the upload host: a status and no body. */
export function bareStatus(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, body: "" };
}

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: "invalid_params",
  401: "access_token_invalid",
  403: "spam_risk_user_banned_from_posting",
  404: "not_found",
  429: "rate_limit_exceeded",
};

export function statusError(status: number): Reply {
  return { ...apiError(BY_STATUS[status] ?? "internal_error"), status };
}
