import { DASHBOARD_DETAILS, DASHBOARD_ERRORS } from "#src/http/catalogue/dashboard-errors.ts";
import { ERRORS } from "#src/http/catalogue/errors.ts";
import { POST_DETAILS } from "#src/http/catalogue/post-details.ts";
import { REQUEST_DETAILS } from "#src/http/catalogue/request-details.ts";
import { STATE_DETAILS } from "#src/http/catalogue/state-details.ts";

/**
 * The texts of all error details of the API. Some details have no text of their own here: those
 * whose code is the name of a scope or an error code.
 */
export const DETAILS = { ...POST_DETAILS, ...STATE_DETAILS, ...REQUEST_DETAILS };

export const ALL_DETAILS = { ...DETAILS, ...DASHBOARD_DETAILS };

export const ALL_ERRORS = { ...ERRORS, ...DASHBOARD_ERRORS };

export type ErrorCode = keyof typeof ALL_ERRORS;

export type DetailCode = keyof typeof DETAILS;

/** Those of the API description. */
export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

export const DETAIL_CODES = Object.keys(DETAILS) as readonly DetailCode[];

const KNOWN_ERRORS: ReadonlySet<string> = new Set(Object.keys(ALL_ERRORS));

export function isErrorCode(text: string): text is ErrorCode {
  return KNOWN_ERRORS.has(text);
}
