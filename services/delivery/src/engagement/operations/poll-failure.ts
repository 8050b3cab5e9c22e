import type { Missing } from "@postrider/platforms/comments/connector";
import type { Failure } from "@postrider/platforms/publishing/outcome";
import type { Unavailable, Unusable } from "./account-access.ts";

/** An account that must be connected again is checked that often; a check costs no call. */
const UNUSABLE_MS = 5 * 60_000;

export interface PollFailure {
  readonly kind: "failed";
  /** A rate limit, an account that the user must connect again, or anything else. */
  readonly cause: "limited" | "unusable" | "failed";
  readonly error: string;
  /** As the platform asked for it. */
  readonly retryAfterMs?: number;
}

type Failed = Exclude<Failure, { kind: "token_refused" }> | Unusable | Unavailable;

/**
 * Returns why the comments on one piece of media could not be read. The list of the account's media
 * could be read before, so a missing permission concerns only this piece of media and not the
 * account.
 */
export function toMediaFailure(result: Failed | Missing): PollFailure {
  if (result.kind === "missing") return { kind: "failed", cause: "failed", error: "media_missing" };
  const failure = toPollFailure(result);
  return failure.error === "permission_missing" ? { ...failure, cause: "failed" } : failure;
}

export function toPollFailure(result: Failed): PollFailure {
  switch (result.kind) {
    case "unusable":
      return { kind: "failed", cause: "unusable", error: result.code, retryAfterMs: UNUSABLE_MS };
    case "unavailable":
      return { kind: "failed", cause: "failed", error: "token_unavailable" };
    case "refused": {
      const isAccount = result.code === "permission_missing" || result.code.startsWith("account_");
      return { kind: "failed", cause: isAccount ? "unusable" : "failed", error: result.code };
    }
    case "retryable": {
      const { code, retryAfterMs, isLimit } = result;
      const cause = isLimit === true || code === "rate_limited" ? "limited" : "failed";
      const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
      return { kind: "failed", cause, error: code, ...wait };
    }
  }
}
