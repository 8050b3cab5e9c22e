import fc from "fast-check";
import { expect, test } from "vitest";
import type { AutomationRule } from "./automation-rule.ts";
import { createCommentMatcher } from "./match-comment.ts";
import { planRuns, runKey, type PlanContext, type RuleMatcher } from "./plan-runs.ts";

const NOW = new Date("2026-11-23T12:00:00.000Z");
const DAY_MS = 86_400_000;

function daysAgo(days: number): Date {
  return new Date(NOW.getTime() - days * DAY_MS);
}

function rule(id: string, given: Partial<AutomationRule> = {}): AutomationRule {
  return {
    id,
    workspaceId: "w",
    accountId: "a",
    platform: "instagram",
    name: id,
    mediaIds: null,
    keywords: ["link"],
    match: "any",
    excludeKeywords: ["spam"],
    message: "Hello",
    status: "active",
    activatedAt: daysAgo(30),
    createdAt: daysAgo(31),
    updatedAt: daysAgo(30),
    ...given,
  };
}

function comment(id: string, text = "link", createdAt = daysAgo(1)) {
  const author = { authorId: null, authorUsername: null, isOwn: false };
  return { id, text, ...author, createdAt, likeCount: null, replyCount: null, hidden: false };
}

/** The last instant at which a private reply to the comment of `planOne` is sent. */
const A_MINUTE_BEFORE_THE_END = new Date(daysAgo(-6).getTime() - 60_000);

const CONTEXT: PlanContext = {
  mediaId: "m",
  now: NOW,
  windowMs: 7 * DAY_MS,
  sendingSince: daysAgo(30),
  answeredIds: new Set(),
  knownRuns: new Set(),
};

/** Returns a function that matches the text of a comment with one of the rules. */
function matcherOf(rules: readonly AutomationRule[]): RuleMatcher {
  const { match } = createCommentMatcher(rules);
  return (of, text) => match(text)[rules.findIndex(({ id }) => id === of.id)] ?? "no_match";
}

function planOne(
  given: Partial<AutomationRule>,
  { text, at, ...context }: Partial<PlanContext> & { text?: string; at?: Date } = {},
) {
  const comments = [comment("c", text, at)];
  const rules = [rule("r", given)];
  const [planned] = planRuns(rules, comments, { ...CONTEXT, ...context }, matcherOf(rules));
  return planned?.plan;
}

test.each([
  [
    "can be answered until a minute before the platform's time for private replies ends",
    {},
    {},
    { kind: "send", sendBefore: A_MINUTE_BEFORE_THE_END },
  ],
  ["has no run without a keyword", {}, { text: "nice" }, undefined],
  ["has no run on media that the rule does not name", { mediaIds: ["other"] }, {}, undefined],
  [
    "has no run if it was written before the activation",
    { activatedAt: daysAgo(0.5) },
    {},
    undefined,
  ],
  [
    "from the same second as the activation is answered",
    { activatedAt: new Date(daysAgo(1).getTime() + 999) },
    { sendingSince: new Date(daysAgo(1).getTime() + 999) },
    { kind: "send", sendBefore: A_MINUTE_BEFORE_THE_END },
  ],
  ["has no second run", {}, { knownRuns: new Set([runKey("r", "c")]) }, undefined],
  ["is excluded", {}, { text: "link spam" }, { kind: "skipped", reason: "excluded" }],
  [
    "is excluded rather than inactive",
    { status: "paused" as const },
    { text: "link spam" },
    { kind: "skipped", reason: "excluded" },
  ],
  [
    "is skipped as inactive",
    { status: "paused" as const },
    {},
    { kind: "skipped", reason: "rule_inactive" },
  ],
  [
    "is too old a minute before it is 7 days old",
    {},
    { at: new Date(daysAgo(7).getTime() + 60_000) },
    { kind: "skipped", reason: "too_old" },
  ],
  [
    "is prepared without sending while sending is blocked",
    {},
    { sendingSince: null, answeredIds: new Set(["c"]) },
    { kind: "prepared", reason: "sending_blocked" },
  ],
  [
    "is prepared without sending if it was written before sending was enabled",
    {},
    { sendingSince: daysAgo(0.5) },
    { kind: "prepared", reason: "sending_blocked" },
  ],
  [
    "is answered already",
    {},
    { answeredIds: new Set(["c"]) },
    { kind: "skipped", reason: "already_replied" },
  ],
])(
  "under an automation rule, a comment gets the planned outcome: it %s",
  (_, given, context, expected) => {
    expect(planOne(given, context)).toEqual(expected);
  },
);

test("whatever the rules are, a comment is answered at most once, within the platform's time limit, and each rule has at most one run for it", () => {
  const rules = fc.array(
    fc.record({
      status: fc.constantFrom("active" as const, "paused" as const),
      keywords: fc.constantFrom(["link"], ["price"], ["link", "price"]),
      activatedAt: fc.constantFrom(daysAgo(30), daysAgo(3), null),
      mediaIds: fc.constantFrom(null, ["m"], ["other"]),
    }),
    { maxLength: 5 },
  );
  const comments = fc.array(
    fc.record({
      text: fc.constantFrom("link", "price", "link price", "link spam", "nice"),
      days: fc.double({ min: 0, max: 10, noNaN: true }),
      isAnswered: fc.boolean(),
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(rules, comments, (givenRules, givenComments) => {
      const made = givenComments.map(({ text, days }, index) =>
        comment(`c${index}`, text, daysAgo(days)),
      );
      const answeredIds = new Set(
        made.filter((_, index) => givenComments[index]?.isAnswered === true).map(({ id }) => id),
      );
      const all = givenRules.map((given, index) => rule(`r${index}`, given));
      const runs = planRuns(all, made, { ...CONTEXT, answeredIds }, matcherOf(all));
      const keys = runs.map((run) => runKey(run.rule.id, run.comment.id));
      expect(new Set(keys).size).toBe(keys.length);
      const sent = runs.filter(({ plan }) => plan.kind === "send");
      expect(new Set(sent.map((run) => run.comment.id)).size).toBe(sent.length);
      const isRight = sent.every(
        (run) =>
          !answeredIds.has(run.comment.id) &&
          run.rule.status === "active" &&
          run.comment.createdAt > daysAgo(7) &&
          !run.comment.text.includes("spam"),
      );
      expect(isRight).toBe(true);
    }),
  );
});
