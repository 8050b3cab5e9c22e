import { expect, test } from "vitest";
import { retryOf } from "./failed-targets.ts";

const failedWith = (code: "content_rejected" | "outcome_unknown" | "platform_unavailable") =>
  ({
    platform: "x",
    status: "failed",
    error: { code, retryable: code === "platform_unavailable" },
  }) as const;

test("the button that retries a post counts all that is sent again, also where it does not help", () => {
  const refused = failedWith("content_rejected");
  const unknown = failedWith("outcome_unknown");
  const targets = [refused, failedWith("platform_unavailable"), unknown];
  expect(retryOf(targets)).toEqual({ count: 2, helps: true });
  expect(retryOf([refused, unknown])).toEqual({ count: 1, helps: false });
  expect(retryOf([unknown, { platform: "x", status: "published" }])).toMatchObject({ count: 0 });
});
