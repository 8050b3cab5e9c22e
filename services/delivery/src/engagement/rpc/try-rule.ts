import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  TryRuleRequest,
  TryRuleResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { findSendingSince } from "#src/engagement/db/automation-sending.ts";
import {
  type CommentMatch,
  createCommentMatcher,
  type MatchMode,
} from "#src/engagement/domain/match-comment.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/dependencies.ts";

const MODES = ["any", "all", "exact"] as const satisfies readonly MatchMode[];
const MAX_WORDS = 50;
const OUTCOMES = { match: "reply", excluded: "excluded", no_match: "no_match" } as const;

/** The same matcher as for comments says what the rule does, and which of its words are there. */
export async function tryRule(
  { sql, settings }: Pick<AutomationRpcDeps, "sql" | "settings">,
  { keywords, match, excludeKeywords, text }: TryRuleRequest,
): Promise<MessageInitShape<typeof TryRuleResponseSchema>> {
  const mode = MODES.find((each) => each === match);
  if (mode === undefined) throw invalidRequest([{ code: "invalid", path: "/match" }]);
  if (keywords.length === 0 || keywords.length > MAX_WORDS || excludeKeywords.length > MAX_WORDS)
    throw invalidRequest([{ code: "invalid", path: "/keywords" }]);
  const wordMode = mode === "exact" ? "exact" : "any";
  const single = (word: string, match: MatchMode) =>
    ({ keywords: [word], match, excludeKeywords: [] }) as const;
  const [whole, ...words] = createCommentMatcher([
    { keywords, match: mode, excludeKeywords },
    ...keywords.map((word) => single(word, wordMode)),
    ...excludeKeywords.map((word) => single(word, "any")),
  ]).match(text);
  const isFound = (index: number, matches: readonly CommentMatch[]) => matches[index] === "match";
  const ofKeywords = words.slice(0, keywords.length);
  const ofExcluded = words.slice(keywords.length);
  const sendingSince = settings.isSendingEnabled ? await findSendingSince(sql) : null;
  return {
    outcome: OUTCOMES[whole ?? "no_match"],
    keywords: keywords.filter((_, index) => isFound(index, ofKeywords)),
    excluded: excludeKeywords.filter((_, index) => isFound(index, ofExcluded)),
    isSendingEnabled: sendingSince !== null,
  };
}
