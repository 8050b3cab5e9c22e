import {
  invalidRequest,
  ServiceError,
  unavailable,
  type Violation,
} from "@postrider/shared/errors";
import { describe, expect, test } from "vitest";
import { CommandFailure } from "#src/failures.ts";
import { toConnectFailure, toOutcomeFailure } from "./connect.ts";

describe("failures of `account connect`:", () => {
  test.each([
    "denied",
    "refused",
    "expired",
    "permission_missing",
    "no_account",
    "unavailable",
    "unanswered",
    "an outcome of a later release",
  ])(
    "the failure for an authorization that ended with '%s' says what to do and names the platform's guide",
    (outcome) => {
      const { code, message } = toOutcomeFailure("facebook", outcome);
      expect(code).toBe(outcome);
      expect(message).toMatch(/run the command|select one|check with/);
      expect(message).toContain("(docs/platforms/facebook.md)");
    },
  );

  test.each([
    [{ code: "login_refused", reason: "copy the token again" }, "copy the token again (docs/"],
    [
      { code: "platform_unavailable", reason: "Telegram answered 502" },
      "Telegram answered 502; try",
    ],
    [{ code: "not_configured" }, "set the settings of its app"],
    [{ code: "unknown_platform", allowed: ["x", "bluesky"] }, "use one of x, bluesky"],
  ] as readonly [Violation, string][])(
    "a request that is refused with the violation %j becomes a failure whose message contains: %s",
    (violation, text) => {
      const failure = toConnectFailure("telegram", invalidRequest([violation]));
      expect(failure).toBeInstanceOf(CommandFailure);
      expect(failure).toMatchObject({ code: "invalid_request" });
      expect((failure as Error).message).toContain(text);
    },
  );

  test("a request that is refused because of too many attempts becomes a failure that says how long to wait", () => {
    const error = new ServiceError("conflict", "rate_limited", [], { retryAfterMs: 14_100 });
    const failure = toConnectFailure("telegram", error);
    expect(failure).toMatchObject({ code: "rate_limited" });
    expect((failure as Error).message).toContain("wait 15 s");
  });

  test.each([
    unavailable(),
    new ServiceError("not_found", "not_found"),
    invalidRequest([{ code: "required", path: "/workspaceId" }]),
    new Error("bug"),
  ])("an error that is not about the platform is returned unchanged: %s", (error) => {
    expect(toConnectFailure("telegram", error)).toBe(error);
  });
});
