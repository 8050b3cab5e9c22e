import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import { matchComments } from "./match-comments.ts";

const LENGTH = 8_000;
const COMMENTS_PER_PAGE = 50;

function rulesWith(keyword: (index: number) => string): readonly AutomationRule[] {
  return Array.from({ length: 100 }, (_, rule) => ({
    id: String(rule),
    workspaceId: "w",
    accountId: "a",
    platform: "facebook",
    name: "",
    mediaIds: null,
    keywords: Array.from({ length: 50 }, (_, index) => keyword(rule * 50 + index)),
    match: "any",
    excludeKeywords: [],
    message: "Hello",
    status: "active",
    activatedAt: new Date(0),
    createdAt: new Date(0),
    updatedAt: new Date(0),
  }));
}

/**
 * Matches a page of comments. Returns the CPU time in milliseconds, in all and of the longest piece
 * in which no other work could run.
 */
async function measure(rules: readonly AutomationRule[], text: string) {
  const times: number[] = [];
  let last = process.cpuUsage();
  const end = new AbortController();
  const watch = async () => {
    while (!end.signal.aborted) {
      const { user, system } = process.cpuUsage(last);
      times.push((user + system) / 1_000);
      last = process.cpuUsage();
      await setImmediate();
    }
  };
  const comments = Array.from({ length: COMMENTS_PER_PAGE }, (_, index) => ({
    text: `${index}${text}`.slice(0, LENGTH),
  }));
  const watched = watch();
  await matchComments(rules, comments);
  end.abort();
  await watched;
  return { totalMs: times.reduce((sum, time) => sum + time, 0), longestMs: Math.max(...times) };
}

const FEW = (index: number) => "a".repeat(1 + (index % 100));
const PRIMES = (index: number) => "′".repeat(1 + (index % 100));
const MANY = (index: number) => String(index).padStart(5, "x").repeat(20);

describe.each([
  ["the same few keywords", FEW],
  ["5,000 different long keywords", MANY],
  ["a hundred keywords within each other, without letters", PRIMES],
])("a page of the longest comments and 100 rules with %s", (_, keyword) => {
  test.each([
    ["a ligature that stands for 18 characters", "\ufdfa"],
    ["combining marks in changing order", "\u0301\u0316"],
    ["half-width voicing marks in changing order", "\uff9e\u0300"],
    ["a character that stands for four primes", "⁗"],
    ["one long word", "a"],
    ["words that are keywords", "a "],
    ["parts of keywords", "xxxx1"],
    ["Hangul", "가"],
  ])(
    "are matched in less than a second, without a piece of over 100 ms, if they consist of %s",
    async (_name, unit) => {
      const rules = rulesWith(keyword);
      const text = unit.repeat(LENGTH);
      await measure(rules, "warm up");
      const { totalMs, longestMs } = await measure(rules, text);
      expect(totalMs).toBeLessThan(1_000);
      expect(longestMs).toBeLessThan(100);
    },
  );
});

test("changed words of a rule take effect at once, and a rule without matches gives none", async () => {
  const [rule] = rulesWith(() => "link");
  if (rule === undefined) throw new Error("there is no rule");
  const comments = [{ text: "the link" }, { text: "the guide" }];
  const resultsOf = async (changed: AutomationRule) => {
    const match = await matchComments([changed], comments);
    return comments.map(({ text }) => match(changed, text));
  };
  expect(await resultsOf(rule)).toEqual(["match", "no_match"]);
  expect(await resultsOf({ ...rule, keywords: ["guide"] })).toEqual(["no_match", "match"]);
  expect(await resultsOf({ ...rule, excludeKeywords: ["the"] })).toEqual(["excluded", "no_match"]);
});
