import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { PlatformComment } from "@postrider/platforms/comments/connector";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import {
  buildCommentMatcher,
  type CommentMatch,
  type CommentMatcher,
  type RuleWords,
} from "#src/engagement/domain/match-comment.ts";
import type { RuleMatcher } from "#src/engagement/domain/plan-runs.ts";

/** Maximum size of all kept matchers, in states of their automata: about 30 MB. */
const MAX_KEPT_SIZE = 1_000_000;
const MAX_KEPT = 200;

/** Matching for a request takes up to 50 ms at a time, so those of a workspace take turns. */
export const matchTurns = new Semaphore({ total: Infinity, perKey: 1, maxWaiting: Infinity });

/** Keys are the words of the rules. The most recently used matcher is the last. */
const kept = new Map<string, CommentMatcher>();

export async function matchComments(
  rules: readonly AutomationRule[],
  comments: readonly Pick<PlatformComment, "text">[],
): Promise<RuleMatcher> {
  const matcher = await getMatcher(rules);
  const results = new Map<string, readonly CommentMatch[]>();
  for (const { text } of comments) {
    if (results.has(text)) continue;
    results.set(text, matcher.match(text));
    await setImmediate();
  }
  const places = new Map(rules.map(({ id }, index) => [id, index]));
  return (rule, text) => {
    const result = results.get(text)?.[places.get(rule.id) ?? -1];
    if (result === undefined) throw new Error("a comment was not matched with this rule");
    return result;
  };
}

async function getMatcher(rules: readonly RuleWords[]): Promise<CommentMatcher> {
  const key = keyOf(rules);
  const matcher = kept.get(key) ?? (await buildMatcher(rules));
  kept.delete(key);
  kept.set(key, matcher);
  let size = [...kept.values()].reduce((sum, each) => sum + each.size, 0);
  for (const [oldest, each] of kept) {
    if (size <= MAX_KEPT_SIZE && kept.size <= MAX_KEPT) break;
    kept.delete(oldest);
    size -= each.size;
  }
  return matcher;
}

/** The words decide, not the last change: two changes can happen within a millisecond. */
function keyOf(rules: readonly RuleWords[]): string {
  const hash = createHash("sha256");
  for (const { match, keywords, excludeKeywords } of rules)
    hash.update(JSON.stringify([match, keywords, excludeKeywords]));
  return hash.digest("base64");
}

/** Lets other work run between the steps. */
export async function buildMatcher(rules: readonly RuleWords[]): Promise<CommentMatcher> {
  const building = buildCommentMatcher(rules);
  for (;;) {
    const step = building.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}
