import { Refused, type Reply } from "#src/http/call.ts";

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

/** The default reason and message of a Google API error per HTTP status. */
const DEFAULTS: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  400: ["badRequest", "Bad Request"],
  401: [
    "authError",
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
  ],
  403: ["forbidden", "The request is not properly authorized."],
  404: ["notFound", "Not Found"],
  413: ["uploadTooLarge", "Request Entity Too Large"],
  429: ["rateLimitExceeded", "Rate Limit Exceeded"],
};

interface ErrorWords {
  readonly message?: string;
  readonly domain?: string;
  /**
   * The name of the request parameter that is invalid, which the YouTube error names as its
   * location.
   */
  readonly location?: string;
}

/** An error in the format that all Google APIs use. */
export function apiError(code: number, reason: string, words: ErrorWords = {}): Reply {
  const { domain = "global", location } = words;
  const message = words.message ?? DEFAULTS[code]?.[1] ?? "Backend Error";
  const one = {
    message,
    domain,
    reason,
    ...(location === undefined ? {} : { location, locationType: "parameter" }),
  };
  const status = STATUS_NAMES[code];
  const error = { code, message, errors: [one], ...(status === undefined ? {} : { status }) };
  return { status: code, body: { error } };
}

/** The default error of the YouTube API for an HTTP status. */
export function statusError(code: number): Reply {
  const reply = apiError(code, DEFAULTS[code]?.[0] ?? "backendError");
  // The wait that the simulator names in a YouTube 429 is two seconds, because tests cannot wait
  // for the end of a real rate limit.
  return code === 429 ? { ...reply, headers: { "retry-after": "2" } } : reply;
}

/** Ends the YouTube call with an error. */
export function refuse(code: number, reason: string, words: ErrorWords = {}): never {
  throw new Refused(apiError(code, reason, words));
}

/** Ends the YouTube call with an error about an invalid value in the video resource. */
export function refuseVideo(reason: string, message: string, location: string): never {
  return refuse(400, reason, { message, location, domain: "youtube.video" });
}

/** An error of Google's token endpoints, in the format of OAuth. */
export function oauthError(status: number, error: string, description: string): Reply {
  return { status, body: { error, error_description: description } };
}
