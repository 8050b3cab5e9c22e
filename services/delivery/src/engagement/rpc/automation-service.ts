import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import {
  AutomationService,
  type GetBackfillRequest,
  type GetBackfillResponseSchema,
  type ListAutomationRulesRequest,
  type ListAutomationRulesResponseSchema,
  type ListAutomationRunsRequest,
  type ListAutomationRunsResponseSchema,
  type ListBackfillsRequest,
  type ListBackfillsResponseSchema,
  type PreviewBackfillRequest,
  type PreviewBackfillResponseSchema,
  type TryRuleRequest,
  type TryRuleResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { serveMethods } from "@postrider/shared/connect/methods";
import { invalidRequest, notFound, unavailable } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import { encodeTextCursor, requireTextCursor } from "@postrider/shared/secrets/list-cursor";
import { findContext } from "@postrider/shared/telemetry/request-context";
import { findRule, listRules } from "#src/engagement/db/automation-rules.ts";
import {
  type AutomationRun,
  countRuns,
  findCommentTexts,
  listRunPage,
  RUN_STATUSES,
} from "#src/engagement/db/automation-runs.ts";
import { findSendingSince } from "#src/engagement/db/automation-sending.ts";
import { findBackfill, listBackfillPage } from "#src/engagement/db/backfills.ts";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import type { CommentMatch, MatchMode } from "#src/engagement/domain/match-comment.ts";
import { toBackfill, toPreviewItem } from "#src/engagement/operations/backfill-pages.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/dependencies.ts";
import { toAutomationRun } from "#src/engagement/operations/list-automation-runs.ts";
import { buildMatcher, matchTurns } from "#src/engagement/operations/match-comments.ts";
import { readPastComments } from "#src/engagement/operations/read-past-comments.ts";
import { REFUSED_RETRY_MS } from "#src/engagement/operations/read-platform.ts";
import {
  assertRule,
  getLiveRule,
  isMatchMode,
} from "#src/engagement/rpc/parse-automation-request.ts";
import { parsePage, toPage } from "#src/operations/parse-page.ts";
import {
  createAutomationRule,
  toAutomationRule,
  updateAutomationRule,
} from "./automation-rule-service.ts";
import { createBackfill, readResults, updateBackfill } from "./backfill-service.ts";

const OUTCOMES = { match: "reply", excluded: "excluded", no_match: "no_match" } as const;

/** The same matcher as for comments says what the rule does, and which of its words are there. */
async function tryRule(
  { sql, settings }: Pick<AutomationRpcDeps, "sql" | "settings">,
  { keywords, match, excludeKeywords, text }: TryRuleRequest,
): Promise<MessageInitShape<typeof TryRuleResponseSchema>> {
  using _turn = await matchTurns.acquire({ key: findContext()?.workspaceId ?? "" });
  assertRule({ keywords, match, excludeKeywords });
  const mode = isMatchMode(match) ? match : "any";
  const wordMode = mode === "exact" ? "exact" : "any";
  const single = (word: string, match: MatchMode) =>
    ({ keywords: [word], match, excludeKeywords: [] }) as const;
  const matcher = await buildMatcher([
    { keywords, match: mode, excludeKeywords },
    ...keywords.map((word) => single(word, wordMode)),
    ...excludeKeywords.map((word) => single(word, "any")),
  ]);
  const [whole, ...words] = matcher.match(text);
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

export function createAutomationRoutes(deps: AutomationRpcDeps): (router: ConnectRouter) => void {
  return (router) => {
    serveMethods(router, deps, AutomationService, {
      listAutomationRules,
      createAutomationRule,
      updateAutomationRule,
      listAutomationRuns,
      previewBackfill,
      listBackfills,
      createBackfill,
      getBackfill,
      updateBackfill,
      tryRule,
    });
  };
}

async function listAutomationRules(
  { sql, cursorKeys }: Pick<AutomationRpcDeps, "sql" | "cursorKeys">,
  request: ListAutomationRulesRequest,
): Promise<MessageInitShape<typeof ListAutomationRulesResponseSchema>> {
  const { workspaceId, withRunCounts } = request;
  assertIds(workspaceId);
  const scope = ["automation rules", workspaceId];
  const page = parsePage(cursorKeys, scope, request);
  const rows = await listRules(sql, workspaceId, page);
  const { shown, next } = toPage(cursorKeys, scope, page, rows);
  if (!withRunCounts) return { rules: shown.map(toAutomationRule), ...next };
  const counts = await countRuns(
    sql,
    workspaceId,
    shown.map(({ id }) => id),
  );
  const withCount = (rule: AutomationRule) => {
    return { ...toAutomationRule(rule), runCount: counts.get(rule.id) ?? 0 };
  };
  return { rules: shown.map(withCount), ...next };
}

/** Lists runs of the workspace or of one rule, also of a revoked one. */
async function listAutomationRuns(
  { sql, cursorKeys }: Pick<AutomationRpcDeps, "sql" | "cursorKeys">,
  request: ListAutomationRunsRequest,
): Promise<MessageInitShape<typeof ListAutomationRunsResponseSchema>> {
  const { workspaceId, ruleId, status: wanted, withTexts } = request;
  assertIds(workspaceId, ...(ruleId === "" ? [] : [ruleId]));
  const status = RUN_STATUSES.find((each) => each === wanted);
  if (wanted !== "" && status === undefined)
    throw invalidRequest([{ code: "invalid", path: "/status" }]);
  const scope = ["automation runs", workspaceId, ruleId, wanted];
  const page = parsePage(cursorKeys, scope, request);
  if (ruleId !== "" && (await findRule(sql, workspaceId, ruleId)) === undefined) throw notFound();
  const filter = { ruleId: ruleId === "" ? undefined : ruleId, status };
  const rows = await listRunPage(sql, workspaceId, { ...page, ...filter });
  const { shown, next } = toPage(cursorKeys, scope, page, rows);
  if (!withTexts) return { runs: shown.map(toAutomationRun), ...next };
  const texts = await findCommentTexts(
    sql,
    workspaceId,
    shown.map(({ id }) => id),
  );
  const withText = (run: AutomationRun) => {
    const commentText = texts.get(run.id);
    return { ...toAutomationRun(run), ...(commentText === undefined ? {} : { commentText }) };
  };
  return { runs: shown.map(withText), ...next };
}

/** Without their results. */
async function listBackfills(
  { sql, cursorKeys }: Pick<AutomationRpcDeps, "sql" | "cursorKeys">,
  request: ListBackfillsRequest,
): Promise<MessageInitShape<typeof ListBackfillsResponseSchema>> {
  const { workspaceId } = request;
  assertIds(workspaceId);
  const scope = ["backfills", workspaceId];
  const page = parsePage(cursorKeys, scope, request);
  const rows = await listBackfillPage(sql, workspaceId, page);
  const { shown, next } = toPage(cursorKeys, scope, page, rows);
  return { backfills: shown.map(toBackfill), ...next };
}

/** With a page of its results. */
async function getBackfill(
  deps: Pick<AutomationRpcDeps, "sql" | "cursorKeys">,
  request: GetBackfillRequest,
): Promise<MessageInitShape<typeof GetBackfillResponseSchema>> {
  const { workspaceId, backfillId } = request;
  assertIds(workspaceId, backfillId);
  const job = await findBackfill(deps.sql, workspaceId, backfillId);
  if (job === undefined) throw notFound();
  return { backfill: toBackfill(job), ...(await readResults(deps, job, request)) };
}

/** Stores nothing and sends nothing. */
async function previewBackfill(
  deps: AutomationRpcDeps,
  { workspaceId, ruleId, mediaId, cursor }: PreviewBackfillRequest,
): Promise<MessageInitShape<typeof PreviewBackfillResponseSchema>> {
  const rule = await getLiveRule(deps.sql, { workspaceId, ruleId, mediaId });
  const scope = ["backfill preview", workspaceId, ruleId, mediaId];
  const after = cursor === "" ? undefined : requireTextCursor(deps.cursorKeys, scope, cursor);
  const page = await readPastComments(deps, rule, { mediaId, after });
  if (page.kind === "missing") throw notFound();
  if (page.kind === "refused") throw unavailable(undefined, REFUSED_RETRY_MS);
  const { items, next } = page;
  return {
    items: items.map(toPreviewItem),
    ...(next === undefined ? {} : { nextCursor: encodeTextCursor(deps.cursorKeys, scope, next) }),
  };
}
