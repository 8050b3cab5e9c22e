import { ERRORS } from "#src/http/catalogue/errors.ts";
import { POST_DETAILS } from "#src/http/catalogue/post-details.ts";
import { REQUEST_DETAILS } from "#src/http/catalogue/request-details.ts";
import { STATE_DETAILS } from "#src/http/catalogue/state-details.ts";

/**
 * The texts of all error details of the API. Some details have no text of their own here: those
 * whose code is the name of a scope or an error code.
 */
export const DETAILS = { ...POST_DETAILS, ...STATE_DETAILS, ...REQUEST_DETAILS };

export type ErrorCode = keyof typeof ERRORS;

export type DetailCode = keyof typeof DETAILS;

export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

export const DETAIL_CODES = Object.keys(DETAILS) as readonly DetailCode[];

const KNOWN_ERRORS: ReadonlySet<string> = new Set(ERROR_CODES);

export function isErrorCode(text: string): text is ErrorCode {
  return KNOWN_ERRORS.has(text);
}
