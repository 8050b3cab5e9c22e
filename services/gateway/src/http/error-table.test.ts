import { expect, test } from "vitest";
import { ERROR_CODES } from "#src/http/error-codes.ts";
import { errorCodeOf, httpStatusOf, toErrorBody } from "#src/http/error-table.ts";

test("httpStatusOf derives the HTTP status from the reason of an error, not from its kind", () => {
  expect(httpStatusOf("precondition_failed", "conflict")).toBe(412);
  expect(httpStatusOf("payload_too_large", "invalid")).toBe(413);
  expect(httpStatusOf("unsupported_media_type", "invalid")).toBe(415);
  expect(httpStatusOf("rate_limited", "conflict")).toBe(429);
  expect(httpStatusOf("media_rejected", "conflict")).toBe(422);
  expect(httpStatusOf("upstream_timeout", "timeout")).toBe(504);
});

test("every error code has an HTTP status that the API documents", () => {
  const known = [400, 401, 403, 404, 405, 409, 412, 413, 415, 421, 422, 429, 500, 503, 504];
  for (const code of ERROR_CODES) expect(known, code).toContain(httpStatusOf(code));
});

test.each([
  ["invalid", 400, "invalid_request"],
  ["unauthenticated", 401, "unauthenticated"],
  ["forbidden", 500, "internal"],
  ["not_found", 404, "not_found"],
  ["conflict", 500, "internal"],
  ["unprocessable", 500, "internal"],
  ["unavailable", 503, "unavailable"],
  ["timeout", 504, "upstream_timeout"],
  ["internal", 500, "internal"],
] as const)(
  "an error of the kind %s whose reason is not a public error code is answered with %i %s",
  (kind, status, code) => {
    expect(httpStatusOf("unknown_code", kind)).toBe(status);
    expect(errorCodeOf("unknown_code", kind)).toBe(code);
    expect(httpStatusOf("toString", kind)).toBe(status);
  },
);

test("an error without violations has no details", () => {
  expect(toErrorBody({ reason: "not_found", violations: [], locale: "en" })).toEqual({
    error: {
      code: "not_found",
      message:
        "This does not exist in the workspace, or no longer. Take the id from a list, such as GET /posts, or from the answer that created the resource.",
    },
  });
});

test("every violation that an error lists becomes one error detail, which has exactly the fields that the violation has", () => {
  const violations = [
    {
      $typeName: "postrider.errors.v1.Violation" as const,
      code: "content_too_long",
      path: "/options/x/content",
      accountId: "0198b2a0-0000-7000-8000-000000000001",
      platform: "x",
      limit: 280,
      actual: 0,
      unit: "weighted_characters",
    },
    { code: "unknown_media", path: "/mediaIds/0", platform: undefined },
  ];
  expect(toErrorBody({ reason: "validation_failed", violations, locale: "en" })).toEqual({
    error: {
      code: "validation_failed",
      message:
        "x, options.x.content: The text is too long: it counts 0, at most 280 weighted characters are allowed. Shorten it. mediaIds[0]: This workspace has no such media. Take the id from the answer to POST /media/presign or /media/from-url.",
      details: [
        {
          code: "content_too_long",
          message:
            "The text is too long: it counts 0, at most 280 weighted characters are allowed. Shorten it.",
          path: "/options/x/content",
          accountId: "0198b2a0-0000-7000-8000-000000000001",
          platform: "x",
          limit: 280,
          actual: 0,
          unit: "weighted_characters",
        },
        {
          code: "unknown_media",
          message:
            "This workspace has no such media. Take the id from the answer to POST /media/presign or /media/from-url.",
          path: "/mediaIds/0",
        },
      ],
    },
  });
});

test.each([
  [
    "en",
    "bluesky",
    { limit: 300, actual: 412, unit: "graphemes" },
    "The text is too long: it counts 412, at most 300 graphemes are allowed. Shorten it.",
  ],
  [
    "ko",
    "youtube",
    { limit: 5000, actual: 5002, unit: "bytes" },
    "본문이 너무 깁니다. 현재 5002, 최대 5000 바이트. 줄여 주세요.",
  ],
  [
    "en",
    "x",
    { limit: 280, unit: "weighted_characters" },
    "The text is too long, at most 280 weighted characters are allowed. Shorten it.",
  ],
  [
    "en",
    "telegram",
    { limit: 4096, actual: 4097 },
    "The text is too long: it counts 4097, at most 4096 characters are allowed. Shorten it.",
  ],
] as const)(
  "the message in %s about a text that is too long for %s names the unit in which the platform counts",
  (locale, platform, counts, message) => {
    const violations = [{ code: "content_too_long", platform, ...counts }];
    const { details } = toErrorBody({ reason: "validation_failed", violations, locale }).error;
    expect(details).toEqual([{ unit: "characters", ...violations[0], message }]);
  },
);

test("the message about refused characters names the characters and their positions", () => {
  const violations = [{ code: "forbidden_characters", path: "/options/x/title", found: "< (3)" }];
  const { message } = toErrorBody({ reason: "validation_failed", violations, locale: "en" }).error;
  expect(message).toBe(
    "options.x.title: The text has characters that are refused: < (3); each number is the position of a character in the text. Remove them.",
  );
});

test("the details of an exceeded quota contain numbers and RFC 3339 times", () => {
  const violations = [
    {
      code: "monthly",
      limit: 1000,
      used: 900n,
      reserved: 99n,
      requested: 2n,
      resetsAt: { seconds: 1_796_083_200n, nanos: 7_999_999 },
    },
  ];
  expect(toErrorBody({ reason: "quota_exceeded", violations, locale: "en" }).error.details).toEqual(
    [
      {
        code: "monthly",
        message:
          "The monthly quota does not allow this: the limit is 1000, used 900, reserved 99, requested 2. Wait until the limit resets at 2026-12-01T00:00:00.007Z, or ask the operator for a higher one.",
        limit: 1000,
        unit: "publications",
        used: 900,
        reserved: 99,
        requested: 2,
        resetsAt: "2026-12-01T00:00:00.007Z",
      },
    ],
  );
});

test("the error detail of a duplicate post contains the id of the other post", () => {
  const violations = [{ code: "duplicate_content", postId: "p", accountId: "a", platform: "x" }];
  const { error } = toErrorBody({ reason: "duplicate_content", violations, locale: "ko" });
  expect(error.details).toEqual([
    {
      code: "duplicate_content",
      message: error.message,
      accountId: "a",
      platform: "x",
      postId: "p",
    },
  ]);
});

test("the error detail about a missing scope has the same message as the error to which it belongs", () => {
  const violations = [{ code: "posts:write" }];
  const { error } = toErrorBody({ reason: "insufficient_scope", violations, locale: "en" });
  expect(error.details).toEqual([{ code: "posts:write", message: error.message }]);
});

test("an error body has at most 100 details", () => {
  const violations = Array.from({ length: 101 }, (_, index) => ({
    code: "unknown_account",
    path: `/accountIds/${index}`,
  }));
  const { error } = toErrorBody({ reason: "validation_failed", violations, locale: "en" });
  expect(error.details?.length).toBe(100);
  expect(error.details?.at(-1)?.path).toBe("/accountIds/99");
});

test("an error detail omits the path of the field when the path is too long", () => {
  const violations = [{ code: "additional_property", path: `/${"k".repeat(1_000)}` }];
  const { error } = toErrorBody({ reason: "invalid_request", violations, locale: "en" });
  expect(error.details?.[0]).not.toHaveProperty("path");
});

test("an internal error has no details", () => {
  const violations = [{ code: "secret_table", path: "/host/db-1" }];
  expect(toErrorBody({ reason: "select 1 from x", violations, locale: "en" })).toEqual({
    error: {
      code: "internal",
      message:
        "Something went wrong on our side. Try again, and report the request id if it persists.",
    },
  });
});

test("error messages are available in Korean", () => {
  expect(toErrorBody({ reason: "not_found", locale: "ko" }).error.message).toBe(
    "이 워크스페이스에 없거나 삭제되었습니다. GET /posts와 같은 목록이나 생성 응답에 있는 id를 사용해 주세요.",
  );
});

test("the message about an unknown field contains the field that the client probably means", () => {
  const violations = [
    { code: "additional_property", path: "/text", variant: "renamed", expected: "content" },
  ];
  const { error } = toErrorBody({ reason: "invalid_request", violations, locale: "en" });
  expect(error.message).toBe(
    "text: There is no field with this name here. Send this instead: content.",
  );
});

test.each([
  ["succeeded", /^This delivery succeeded, so there is nothing to retry\./],
  [
    "pending",
    /^This delivery has not failed: .* Wait, and send this only once its status is failed\.$/,
  ],
])(
  "the error for retrying a webhook delivery with the status %s says what to do",
  (status, text) => {
    const violations = [{ code: "wrong_status", status, allowed: ["failed"] }];
    const { error } = toErrorBody({ reason: "delivery_not_failed", violations, locale: "en" });
    expect(error.message).toMatch(text);
  },
);

test("the message of the error for too many requests says how long to wait", () => {
  const { error } = toErrorBody({ reason: "rate_limited", locale: "en", wait: 12 });
  expect(error.message).toContain("Retry-After says, 12 s, and");
});
