import { isPlatformId } from "@postrider/platforms/platform-id";
import { conflict, notFound, unavailable } from "@postrider/shared/errors";
import { readClock } from "@postrider/shared/postgres/clock";
import { listAnswered } from "#src/engagement/db/private-replies.ts";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import { planBackfill, type PlannedItem } from "#src/engagement/domain/plan-runs.ts";
import { toStorableComment } from "#src/engagement/domain/text.ts";
import type { EngagementDeps } from "./dependencies.ts";
import { matchComments, matchTurns } from "./match-comments.ts";
import { PlatformCalls } from "./platform-calls.ts";
import { READS, withReadDeadline } from "./read-platform.ts";

const PAST_PAGE_SIZE = 50;
/** A request that waits longer is answered with `upstream_timeout`. */
const DEADLINE_MS = 10_000;
const DEFAULT_RETRY_MS = 30_000;

type Deps = Pick<EngagementDeps, "sql" | "logger" | "accounts" | "connectors">;

export interface PastPage {
  readonly kind: "page";
  readonly items: readonly PlannedItem[];
  /** The platform's cursor; undefined on the last page. */
  readonly next: string | undefined;
  /** Time by the clock of the database. */
  readonly readAt: Date;
}

/** No such media of this account, or the platform permanently refuses to list its comments. */
export type PastRefusal = { readonly kind: "missing" } | { readonly kind: "refused" };

/**
 * Reads a page of past comments, and says what an automation rule would do with each. Stores
 * nothing and sends nothing.
 *
 * @throws ServiceError `account_reconnect_required`, `not_found` for a disconnected account,
 *   `unavailable` when the platform fails, `upstream_timeout` when it does not answer in time.
 */
export async function readPastComments(
  deps: Deps,
  rule: AutomationRule,
  { mediaId, after }: { readonly mediaId: string; readonly after: string | undefined },
): Promise<PastPage | PastRefusal> {
  const { platform } = rule;
  const comments = isPlatformId(platform) ? deps.connectors.comments[platform] : undefined;
  const replies = isPlatformId(platform) ? deps.connectors.privateReplies[platform] : undefined;
  if (comments === undefined || replies === undefined) throw unavailable();
  const calls = await PlatformCalls.open(deps, rule, DEADLINE_MS);
  const query = { mediaId, limit: PAST_PAGE_SIZE, after };
  const key = { key: rule.workspaceId };
  const page = await READS.run(
    () =>
      withReadDeadline(DEADLINE_MS, (signal) =>
        calls.make((access) => comments.listComments(access, query, signal)),
      ),
    key,
  );
  if (page.kind === "missing") return page;
  if (page.kind !== "page") return toRefusal(page, rule);
  const read = page.comments.map(toStorableComment);
  const match = await matchTurns.run(() => matchComments([rule], read), key);
  const now = await readClock(deps.sql);
  const ids = read.map(({ id }) => id);
  const answeredIds = await listAnswered(deps.sql, rule, ids);
  const context = { mediaId, now, windowMs: replies.windowMs, answeredIds };
  const items = planBackfill(rule, read, context, match);
  return { kind: "page", items, next: page.next, readAt: now };
}

/** Throws an error for every failure that may be temporary. */
function toRefusal(
  failure: { readonly kind: string; readonly code?: string; readonly retryAfterMs?: number },
  { accountId, platform }: AutomationRule,
): PastRefusal {
  const { kind, code } = failure;
  if (kind === "unusable" && code === "account_disconnected") throw notFound();
  if (kind === "unusable" || code === "permission_missing") {
    const reason = code ?? "account_reconnect_required";
    throw conflict("account_reconnect_required", [{ code: reason, accountId, platform }]);
  }
  if (kind === "refused") return { kind };
  throw unavailable(undefined, failure.retryAfterMs ?? DEFAULT_RETRY_MS);
}
