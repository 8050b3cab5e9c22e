import type { PostTarget } from "@postrider/client";
import { expect, test } from "vitest";
import { progressLine, resultTable } from "#src/demo/demo-view.ts";

const published: PostTarget = {
  id: "t",
  accountId: "a",
  platform: "x",
  username: "ann",
  status: "published",
  externalId: "1",
  permalink: "https://x.test/ann/1",
  publishedAt: "2026-11-20T10:00:00.000Z",
  error: null,
  attemptCount: 1,
  nextAttemptAt: null,
  metrics: null,
};
const failed: PostTarget = {
  ...published,
  platform: "telegram",
  status: "failed",
  permalink: null,
  error: {
    code: "outcome_unknown",
    message: "The outcome is unknown.",
    retryable: false,
    action: "Look at the account.",
  },
};

test("a progress line of the demo shows a target's status, elapsed time and error code", () => {
  expect(progressLine(published, 1234)).toBe(
    "  ✓ x          ann                          published     1.2 s",
  );
  expect(progressLine(failed, 900)).toBe(
    "  ✗ telegram   ann                          failed        0.9 s  outcome_unknown",
  );
});

test("the result table of the demo shows each permalink and whether readers of the platform see the post", () => {
  const table = resultTable([
    { kind: "text", target: published, visible: true },
    { kind: "image", target: failed, visible: false },
  ]);

  expect(table).toBe(
    [
      "  platform  account  post   status                   visible  permalink",
      "  ────────  ───────  ─────  ───────────────────────  ───────  ────────────────────",
      "  x         ann      text   published                yes      https://x.test/ann/1",
      "  telegram  ann      image  failed: outcome_unknown  no       –",
      "",
    ].join("\n"),
  );
});
