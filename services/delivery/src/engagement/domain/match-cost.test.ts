import { expect, test } from "vitest";
import type { AutomationRule } from "./automation-rule.ts";
import { planRuns, type PlanContext } from "./plan-runs.ts";

const NOW = new Date("2026-11-23T12:00:00.000Z");
const CONTEXT: PlanContext = {
  mediaId: "m",
  now: NOW,
  windowMs: 86_400_000,
  sendingSince: null,
  answeredIds: new Set(),
  knownRuns: new Set(),
};
/** Maximum length of a comment on Facebook, in characters. */
const LENGTH = 8_000;

const RULES: readonly AutomationRule[] = Array.from({ length: 100 }, (_, index) => ({
  id: String(index),
  workspaceId: "w",
  accountId: "a",
  platform: "facebook",
  name: "",
  mediaIds: null,
  keywords: Array.from({ length: 50 }, () => "a"),
  match: "any",
  excludeKeywords: [],
  message: "Hello",
  status: "active",
  activatedAt: new Date(0),
  createdAt: new Date(0),
  updatedAt: new Date(0),
}));

function comment(text: string) {
  const author = { authorId: null, authorUsername: null, isOwn: false };
  return {
    id: "c",
    text,
    ...author,
    createdAt: NOW,
    likeCount: null,
    replyCount: null,
    hidden: null,
  };
}

/** Returns the CPU time in milliseconds of matching one comment with all rules and planning their runs. */
function measure(text: string): number {
  const before = process.cpuUsage();
  planRuns(RULES, [comment(text)], CONTEXT);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

test.each([
  ["of combining marks in changing order", `b${"\u0301\u0316".repeat(LENGTH / 2 - 1)}`],
  ["of one long word", "a".repeat(LENGTH)],
])(
  "matching the longest comment %s with all rules of a workspace takes less than 600 ms of CPU time",
  (_, text) => {
    measure("warm up");
    expect(measure(text)).toBeLessThan(600);
  },
);
