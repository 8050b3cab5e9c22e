import { Refused, type Reply } from "#src/http/call.ts";

const PROBLEMS = "https://api.x.com/2/problems";

const TITLES: Readonly<Record<number, string>> = {
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  408: "Request Timeout",
  409: "Conflict",
  413: "Request Entity Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

const PROBLEM_HEADERS = { "content-type": "application/problem+json" };

function problem(status: number, title: string, detail: string, type = "about:blank"): Reply {
  return { status, headers: PROBLEM_HEADERS, body: { title, detail, type, status } };
}

export function statusProblem(status: number): Reply {
  if (status === 400)
    return invalidRequest({}, "One or more parameters to your request was invalid.");
  if (status === 402) {
    const detail = "Your enrolled account does not have any credits to fulfill this request.";
    return problem(402, "CreditsDepleted", detail, `${PROBLEMS}/credits`);
  }
  const title = TITLES[status] ?? "Error";
  return problem(status, title, title);
}

export function forbidden(detail: string): Reply {
  return problem(403, "Forbidden", detail);
}

export const DUPLICATE = forbidden("You are not allowed to create a Tweet with duplicate content.");

export const NOT_PERMITTED = forbidden("You are not permitted to perform this action.");

export const SCOPE_MISSING = problem(
  403,
  "Forbidden",
  "You are not permitted to perform this action.",
  `${PROBLEMS}/not-authorized-for-resource`,
);

/**
 * The error of every X API call after the app has reached its usage cap of the month (docs.x.com,
 * 2026-08-22).
 */
export const USAGE_CAPPED: Reply = problem(
  429,
  "UsageCapExceeded",
  "Usage cap exceeded: Monthly product cap",
  `${PROBLEMS}/usage-capped`,
);

/**
 * The error of a reply to an author who did not mention or quote the account; the text is from a
 * report of 2026-05 (github.com/gptme/gptme-contrib/pull/811).
 */
export const NOT_SUMMONED = forbidden(
  "Reply to this conversation is not allowed because you have not been mentioned or otherwise engaged by the author of the post you are replying to.",
);

export function invalidRequest(parameters: Record<string, unknown>, message: string): Reply {
  const body = {
    errors: [{ parameters, message }],
    title: "Invalid Request",
    detail: "One or more parameters to your request was invalid.",
    type: `${PROBLEMS}/invalid-request`,
  };
  return { status: 400, headers: PROBLEM_HEADERS, body };
}

export function refuseParameter(name: string, value: unknown, message: string): never {
  throw new Refused(invalidRequest({ [name]: [String(value)] }, message));
}

export function notFoundEntry(resourceType: string, parameter: string, id: string): unknown {
  return {
    value: id,
    detail: `Could not find ${resourceType} with ${parameter}: [${id}].`,
    title: "Not Found Error",
    resource_type: resourceType,
    parameter,
    resource_id: id,
    type: `${PROBLEMS}/resource-not-found`,
  };
}

/** OAuth's format instead of problem details. */
export function oauthError(status: number, error: string, description: string): Reply {
  return { status, body: { error, error_description: description } };
}
