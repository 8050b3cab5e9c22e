import type { TargetError } from "./target.ts";

/** The error of a target whose publishing did not begin before its deadline. */
export const MISSED: TargetError = { code: "missed", message: "", retryable: true };
