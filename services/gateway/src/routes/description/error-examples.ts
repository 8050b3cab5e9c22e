import type { ErrorCode } from "#src/http/error-codes.ts";
import { toErrorBody } from "#src/http/error-table.ts";
import type { RequestViolation } from "#src/http/schema-faults.ts";
import { EXAMPLE_IDS } from "./examples/ids.ts";

const TARGET = { accountId: EXAMPLE_IDS.account, platform: "bluesky" };

/** The error details in the example of each error code. */
const DETAILS: Readonly<Partial<Record<ErrorCode, readonly RequestViolation[]>>> = {
  invalid_request: [{ code: "required", path: "/content" }],
  insufficient_scope: [{ code: "posts:write" }],
  duplicate_content: [{ code: "duplicate_content", postId: EXAMPLE_IDS.post, ...TARGET }],
  media_in_use: [{ code: "used_by_post", postId: EXAMPLE_IDS.post }],
  invalid_transition: [{ code: "wrong_status", status: "published", allowed: ["draft"] }],
  payload_too_large: [{ code: "payload_too_large", limit: 1_048_576, actual: 1_200_000 }],
  validation_failed: [
    {
      code: "content_too_long",
      path: "/content",
      ...TARGET,
      limit: 300,
      actual: 412,
      unit: "graphemes",
    },
  ],
  quota_exceeded: [
    {
      code: "monthly",
      limit: 1000,
      used: 990n,
      reserved: 10n,
      requested: 2n,
      resetsAt: { seconds: 1_796_083_200n, nanos: 0 },
    },
  ],
  media_rejected: [{ code: "media_too_large", limit: 536_870_912, actual: 734_003_200 }],
  import_failed: [{ code: "download_refused", path: "/url", status: "404" }],
  address_not_allowed: [{ code: "address_not_allowed", path: "/url" }],
};

/** The error details in the examples of `invalid_request` for operations without a body. */
export const INVALID_REQUESTS = {
  invalid_query: [
    { code: "too_large", path: "/limit", in: "query", limit: 100, actual: 500, maximum: 100 },
  ],
  invalid_header: [{ code: "invalid_header", path: "/X-Workspace-Id", in: "header" }],
} as const satisfies Readonly<Record<string, readonly RequestViolation[]>>;

/** Returns the body of the error with a code, as the gateway would answer it in English. */
export function exampleOf(code: ErrorCode, details = DETAILS[code] ?? []) {
  return toErrorBody({ reason: code, violations: details, locale: "en" });
}
