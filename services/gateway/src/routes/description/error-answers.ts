import { ALL_ERRORS, type ErrorCode } from "#src/http/error-codes.ts";
import { toErrorBody } from "#src/http/error-table.ts";
import type { RequestViolation } from "#src/http/schema-faults.ts";
import { EXAMPLE_IDS } from "#src/routes/description/examples/example.ts";
import { ERRORS_KEY } from "#src/routes/operation.ts";
import {
  type Components,
  type DescribedAnswer,
  type DescribedOperation,
  JSON_TYPE,
} from "./document.ts";

const TARGET = { accountId: EXAMPLE_IDS.account, platform: "bluesky" };

const DETAILS: Readonly<Partial<Record<ErrorCode, readonly RequestViolation[]>>> = {
  invalid_request: [{ code: "required", path: "/content" }],
  insufficient_scope: [{ code: "posts:write" }],
  duplicate_content: [{ code: "duplicate_content", postId: EXAMPLE_IDS.post, ...TARGET }],
  media_in_use: [{ code: "used_by_post", postId: EXAMPLE_IDS.post }],
  invalid_transition: [{ code: "wrong_status", status: "published", allowed: ["draft"] }],
  payload_too_large: [{ code: "payload_too_large", limit: 1_048_576, actual: 1_200_000 }],
  wrong_cell: [{ code: "wrong_cell", cell: "us1", address: "https://us1.api.example.com" }],
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
const INVALID_REQUESTS = {
  invalid_query: [
    { code: "too_large", path: "/limit", in: "query", limit: 100, actual: 500, maximum: 100 },
  ],
  invalid_header: [{ code: "invalid_header", path: "/X-Workspace-Id", in: "header" }],
} as const satisfies Readonly<Record<string, readonly RequestViolation[]>>;

export function exampleOf(code: ErrorCode, details = DETAILS[code] ?? []) {
  return toErrorBody({ reason: code, violations: details, locale: "en" });
}

const SCHEMA = { $ref: "#/components/schemas/ApiError" };
const RETRY_AFTER = {
  "Retry-After": {
    description: "Seconds to wait.",
    required: true,
    schema: { type: "integer", minimum: 1 },
  },
};
const CARRIED_OUT = {
  "X-Postrider-Carried-Out": {
    description:
      "`no` if the request was refused before any of it was done, so that it can be repeated whatever its method. Without it the request may have been carried out.",
    required: false,
    schema: { type: "string", enum: ["no"] },
  },
};
const WWW_AUTHENTICATE = {
  "WWW-Authenticate": { description: "`Bearer`.", required: true, schema: { type: "string" } },
};

/** Headers of error answers by HTTP status, in addition to the headers of every answer. */
const HEADERS: Readonly<Record<number, Record<string, object>>> = {
  401: WWW_AUTHENTICATE,
  421: {
    "X-Postrider-Cell-Address": {
      description: "The address of the cell that has the workspace.",
      required: true,
      schema: { type: "string", format: "uri" },
    },
  },
  429: RETRY_AFTER,
  503: { ...RETRY_AFTER, ...CARRIED_OUT },
};

/**
 * Returns the name of the example for an error code. The example for `invalid_request` shows a
 * wrong body, or a wrong query or header if the operation has no body.
 */
function nameExample(code: ErrorCode, operation: DescribedOperation): string {
  if (code !== "invalid_request" || operation.requestBody !== undefined) return code;
  const hasLimit = operation.parameters?.some(({ name }) => name === "limit") === true;
  return hasLimit ? "invalid_query" : "invalid_header";
}

function refer(name: string, code: ErrorCode, { examples }: Components): object {
  const faults = INVALID_REQUESTS[name as keyof typeof INVALID_REQUESTS];
  examples[name] ??= {
    summary: ALL_ERRORS[code].texts.en[0].replaceAll(/\[[^\]]*\]/g, ""),
    value: exampleOf(code, faults),
  };
  return { $ref: `#/components/examples/${name}` };
}

function describe(
  codes: readonly ErrorCode[],
  operation: DescribedOperation,
  components: Components,
): DescribedAnswer {
  const examples = codes.map((code) => {
    const name = nameExample(code, operation);
    return [name, refer(name, code, components)] as const;
  });
  return {
    description: `Error code ${codes.map((code) => `\`${code}\``).join(", ")}.`,
    "x-postrider-codes": codes,
    content: { [JSON_TYPE]: { schema: SCHEMA, examples: Object.fromEntries(examples) } },
  };
}

/**
 * Adds an answer for each HTTP status of an operation's errors to the API description. The errors
 * come from the schema of the route, which lists them under a key that the API description does not
 * keep.
 */
export function describeErrors(operation: DescribedOperation, components: Components): void {
  const codes = (operation[ERRORS_KEY] ?? []) as readonly ErrorCode[];
  delete operation[ERRORS_KEY];
  const { headers: common = {} } = operation.responses["default"] ?? {};
  const statuses = new Set(codes.map((code) => ALL_ERRORS[code].status));
  for (const status of [...statuses].sort((a, b) => a - b)) {
    const found = codes.filter((code) => ALL_ERRORS[code].status === status);
    operation.responses[status] = {
      ...describe(found, operation, components),
      headers: { ...common, ...HEADERS[status] },
    };
  }
}
