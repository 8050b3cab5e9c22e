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
  readonly location?: string;
}

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

export function statusError(code: number): Reply {
  const reply = apiError(code, DEFAULTS[code]?.[0] ?? "backendError");
  // Tests cannot wait for the end of a real rate limit.
  return code === 429 ? { ...reply, headers: { "retry-after": "2" } } : reply;
}

export function refuse(code: number, reason: string, words: ErrorWords = {}): never {
  throw new Refused(apiError(code, reason, words));
}

export function refuseVideo(reason: string, message: string, location: string): never {
  return refuse(400, reason, { message, location, domain: "youtube.video" });
}

export function oauthError(status: number, error: string, description: string): Reply {
  return { status, body: { error, error_description: description } };
}
