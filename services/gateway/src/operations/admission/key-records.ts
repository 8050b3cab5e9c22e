import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AdmissionGrant } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import type { AdmissionSource } from "#src/clients/admit-batches.ts";
import {
  addAnswer,
  newWorkspaceBudget,
  takePrepaid,
  type WorkspaceBudget,
} from "#src/operations/admission/workspace-budget.ts";

const MAX_RECORDS = 10_000;
const MAX_UNKNOWN_KEYS = 10_000;
/** Maximum age of an answer that is used, from the moment it was asked for: a revocation takes effect within this time. */
const MAX_TTL_MS = 3_000;
/**
 * How much longer an answer is used while the accounts service does not answer: a revocation takes effect within 5 s
 * even then.
 */
const OUTAGE_MS = 2_000;
/** Granted requests that are not used within this time are returned to the accounts service. */
const UNUSED_GRANT_MS = 3_000;
/** A budget without a query for this long is full again in the accounts service, which covers its debt. */
const BUDGET_IDLE_MS = 60_000;

/** A key that works, and the workspace that a request with it belongs to. */
export interface KeyRecord {
  readonly keyId: string;
  readonly scopes: ReadonlySet<string>;
  /** Undefined when the request had to name a workspace, or when the key does not belong to the named workspace. */
  readonly workspace: { readonly verified: boolean; readonly budget: WorkspaceBudget } | undefined;
  /** The query that renews this record. */
  readonly source: AdmissionSource;
  /** When the answer was asked for. */
  readonly sentAt: number;
  /** Until then the record decides without a call to the accounts service. */
  readonly freshUntil: number;
  /** Until then the record decides while the accounts service does not answer. */
  readonly usableUntil: number;
}

/** A query that has been answered. */
export interface AnsweredQuery {
  readonly source: AdmissionSource;
  /** Part of the grant that must not repay debt, because waiting requests were promised it. */
  readonly kept: number;
  readonly sentAt: number;
}

export interface KeyRecords {
  find(pairId: string): KeyRecord | undefined;
  /** Whether a recent answer of the accounts service says that the key does not work. */
  isUnknown(key: string, now: number): boolean;
  /** Stores an answer. Returns undefined when the key does not work. */
  store(query: AnsweredQuery, grant: AdmissionGrant, now: number): KeyRecord | undefined;
  /** Deletes expired records. */
  sweep(now: number): void;
  /**
   * Removes and returns granted requests that were not used: the requests that are older than 3 s or, with `all`, every
   * request.
   */
  takeUnused(now: number, all: boolean): readonly { source: AdmissionSource; count: number }[];
}

function toRecord(
  query: AnsweredQuery,
  key: NonNullable<AdmissionGrant["key"]>,
  ttlMs: number,
  workspace: KeyRecord["workspace"],
): KeyRecord {
  // Compared with the clock of this process, which may be wrong. Afterwards the accounts service decides by the
  // database's clock.
  const expiresAt = key.expiresAt === undefined ? Infinity : timestampMs(key.expiresAt);
  const until = query.sentAt + Math.min(ttlMs, MAX_TTL_MS);
  return {
    keyId: key.id,
    scopes: new Set(key.scopes),
    workspace,
    source: query.source,
    sentAt: query.sentAt,
    freshUntil: Math.min(until, expiresAt),
    usableUntil: Math.min(until + OUTAGE_MS, expiresAt),
  };
}

/**
 * Answers of the accounts service about keys, and the budgets of their workspaces: bounded in number and short-lived.
 */
export function createKeyRecords(): KeyRecords {
  const records = new BoundedMap<string, KeyRecord>(MAX_RECORDS);
  // Until when each key is known not to work. This map is separate from `records`, so that a flood of invalid keys does
  // not evict a valid key.
  const unknown = new BoundedMap<string, number>(MAX_UNKNOWN_KEYS);
  const budgets = new BoundedMap<string, WorkspaceBudget>(MAX_RECORDS);

  function storeBudget(query: AnsweredQuery, grant: AdmissionGrant, now: number) {
    const { workspace, granted, remaining, emptyForMs } = grant;
    if (workspace === undefined) return undefined;
    const { source, sentAt, kept } = query;
    const budget = budgets.get(workspace.id) ?? newWorkspaceBudget(workspace.id, source);
    const quota = workspace.requestsPerMinute;
    addAnswer(budget, { quota, granted, kept, remaining, emptyForMs, source, sentAt }, now);
    budgets.set(workspace.id, budget);
    return { verified: workspace.verified, budget };
  }

  function storeUnknown({ pairId, key }: AdmissionSource, until: number): undefined {
    records.delete(pairId);
    unknown.set(key, until);
  }

  return {
    find: (pairId) => records.get(pairId),
    isUnknown: (key, now) => (unknown.get(key) ?? -Infinity) > now,
    store: (query, grant, now) => {
      const ttlMs = Math.min(grant.ttlMs, MAX_TTL_MS);
      if (grant.key === undefined) return storeUnknown(query.source, query.sentAt + ttlMs);
      const record = toRecord(query, grant.key, ttlMs, storeBudget(query, grant, now));
      const newest = records.get(query.source.pairId);
      // Answers may arrive out of order: the answer to the newest query is kept.
      if (newest === undefined || newest.sentAt <= record.sentAt)
        records.set(query.source.pairId, record);
      return record;
    },
    sweep: (now) => {
      records.deleteOldestWhile((record) => record.usableUntil <= now);
      unknown.deleteOldestWhile((until) => until <= now);
      budgets.deleteOldestWhile((budget) => budget.sentAt + BUDGET_IDLE_MS <= now);
    },
    takeUnused: (now, all) =>
      [...budgets.values()]
        .filter((it) => it.prepaid > 0 && (all || it.prepaidAt + UNUSED_GRANT_MS <= now))
        .map((it) => ({ source: it.source, count: takePrepaid(it) })),
  };
}
