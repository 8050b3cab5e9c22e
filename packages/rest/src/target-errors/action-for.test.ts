import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { describe, expect, test } from "vitest";
import { actionFor, causeFor } from "#src/target-errors/action-for.ts";
import { TARGET_ERROR_CODES } from "#src/target-errors/catalogue.ts";
import type { FailedWork } from "#src/target-errors/phrases.ts";

const LOCALES = ["en", "ko"] as const;
const WORKS: readonly FailedWork[] = ["publication", "deletion", "comment action"];
const STATUSES: Readonly<Record<FailedWork, readonly string[]>> = {
  publication: ["pending", "publishing", "published", "failed", "cancelled"],
  deletion: ["deleting", "deleted", "delete_failed"],
  "comment action": ["failed"],
};

const failed = { work: "publication", status: "failed", retryable: false } as const;

test("every error code has advice without unfilled placeholders in each language, on each platform, for posts, deletions and comment actions", () => {
  const actions = LOCALES.flatMap((locale) =>
    WORKS.flatMap((work) =>
      STATUSES[work].flatMap((status) =>
        [...PLATFORM_IDS, undefined].flatMap((platform) =>
          TARGET_ERROR_CODES.map((code) =>
            actionFor(locale, { work, status, code, platform, retryable: true }),
          ),
        ),
      ),
    ),
  );
  const faulty = actions.filter(
    (action) => action === "" || /\{(name|repeat|connect|platform|at)\}/.test(action),
  );
  expect(faulty).toEqual([]);
});

test.each(TARGET_ERROR_CODES)(
  "the Korean texts for the error %s contain Korean letters",
  (code) => {
    for (const work of WORKS) {
      expect(causeFor("ko", work, code)).toMatch(/[가-힣]/);
      expect(actionFor("ko", { ...failed, work, code })).toMatch(/[가-힣]/);
    }
  },
);

describe("the advice for a failed target", () => {
  test("says how the account is connected again, and then how the post is sent again", () => {
    const code = "account_reconnect_required";
    expect(actionFor("en", { ...failed, code, platform: "x" })).toBe(
      "Connect the account again; it keeps its id: the operator runs `postrider account connect x --workspace ID`, and the account's owner opens the link that it prints. Then send POST /posts/{id}/retry, which repeats only the failed targets.",
    );
    expect(actionFor("en", { ...failed, code, platform: "bluesky" })).toMatch(
      /--handle HANDLE` and enters a new app password\. Then send POST \/posts\/\{id\}\/retry/,
    );
  });

  test("asks to look at the account before sending the post again when the outcome is unknown", () => {
    const action = actionFor("en", { ...failed, code: "outcome_unknown", platform: "telegram" });
    expect(action).toMatch(/^Look at the account on Telegram before you send it again\./);
    expect(action).toMatch(/postrider target resolve ID --published URL/);
  });

  test("does not recommend a retry when a retry would send the same content", () => {
    const action = actionFor("en", { ...failed, code: "content_rejected", platform: "x" });
    expect(action).toMatch(/publish a new post/);
    expect(action).not.toMatch(/\/retry/);
  });

  test("differs between platforms where the remedy differs", () => {
    const code = "permission_missing";
    expect(actionFor("en", { ...failed, code, platform: "telegram" })).toMatch(/administrator/);
    expect(actionFor("en", { ...failed, code, platform: "youtube" })).toMatch(
      /account connect youtube/,
    );
  });

  test.each([
    [true, /^Wait some minutes, then send POST/],
    [false, /^Do what the message asks/],
  ])(
    "depends only on the field retryable, here %j, if the error code is unknown",
    (retryable, action) => {
      for (const code of ["", "new_code", "__proto__", "constructor"])
        expect(actionFor("en", { ...failed, code, retryable })).toMatch(action);
    },
  );
});

describe("the advice for a target that is not final", () => {
  const waiting = { ...failed, status: "publishing", platform: "x", retryable: true } as const;

  test("says that nothing is to be done, and when the next attempt is due", () => {
    const nextAttemptAt = "2026-11-21T09:05:00.000Z";
    const code = "platform_unavailable";
    expect(actionFor("en", { ...waiting, code, nextAttemptAt })).toBe(
      "Do nothing: it is tried again by itself, next at 2026-11-21T09:05:00.000Z.",
    );
    expect(actionFor("en", { ...waiting, code, nextAttemptAt: null })).toBe(
      "Do nothing: it is tried again by itself.",
    );
  });

  test("warns against sending the post again while Postrider looks for its outcome", () => {
    expect(actionFor("en", { ...waiting, code: "outcome_unknown" })).toBe(
      "Do not send it again. Wait: Postrider looks on X whether it was published.",
    );
  });
});

test.each([
  ["app_configuration", /published, but private: do not send it again/],
  ["content_rejected", /published: do not send it again/],
  ["duplicate_detected", /^Delete one of the two on YouTube/],
])(
  "the advice for a published target with the error %s never says to send the post again",
  (code, action) => {
    const record = { ...failed, status: "published", code, platform: "youtube" };
    expect(actionFor("en", record)).toMatch(action);
    expect(actionFor("en", record)).not.toMatch(/retry/);
  },
);

test.each([
  ["rate_limited", "x", /then send DELETE \/posts\/\{id\} again\.$/],
  ["account_disconnected", "x", /account connect x .*Then send DELETE \/posts\/\{id\} again\.$/],
  ["outcome_unknown", "x", /if the post is there, delete it by hand/],
  ["permission_missing", "telegram", /^Delete the message in Telegram by hand/],
  ["content_rejected", "facebook", /^Delete the post on Facebook by hand\.$/],
])(
  "the advice for a deletion that failed with %s on %s is about deleting",
  (code, platform, action) => {
    const record = {
      ...failed,
      work: "deletion",
      status: "delete_failed",
      code,
      platform,
    } as const;
    expect(actionFor("en", record)).toMatch(action);
  },
);

test.each(["", "unknown_code", "__proto__", "toString", "constructor"])(
  "the unknown error code %j is described like internal_error",
  (code) => {
    expect(causeFor("en", "publication", code)).toBe("Something went wrong on our side.");
    expect(causeFor("ko", "comment action", code)).toBe("서비스에 문제가 생겼습니다.");
  },
);

test("an error code that means something else for a comment action than for a target has texts of its own for comment actions", () => {
  expect(causeFor("en", "comment action", "outcome_unknown")).toBe(
    "It is not known whether the platform carried this out.",
  );
  expect(causeFor("en", "publication", "outcome_unknown")).toBe(
    "It is not known whether this was published.",
  );
});
