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
/**
 * Maximum age of a stored answer of the accounts service, measured from the time of the query. The revocation of an API
 * key takes effect within this time.
 */
const MAX_TTL_MS = 3_000;
/**
 * How much longer a stored answer is used while the accounts service does not answer. Even then, the revocation of an
 * API key takes effect within 5 s.
 */
const OUTAGE_MS = 2_000;
/** Granted requests that are not used within this time are returned to the accounts service. */
const UNUSED_GRANT_MS = 3_000;
/**
 * A request budget without an admission query for this long is full again in the accounts service, which covers the
 * budget's debt.
 */
const BUDGET_IDLE_MS = 60_000;

/** A valid API key, and the workspace to which a request with this API key belongs. */
export interface KeyRecord {
  readonly keyId: string;
  readonly scopes: ReadonlySet<string>;
  /** Undefined when the request has to name a workspace, or when the API key does not belong to the named workspace. */
  readonly workspace: { readonly verified: boolean; readonly budget: WorkspaceBudget } | undefined;
  /** The pair of API key and workspace whose query renews this record. */
  readonly source: AdmissionSource;
  /** Time at which the accounts service was asked for this answer. */
  readonly sentAt: number;
  /** Time until which this record decides about requests without a call to the accounts service. */
  readonly freshUntil: number;
  /** Time until which this record decides about requests while the accounts service does not answer. */
  readonly usableUntil: number;
}

/** An admission query that the accounts service has answered. */
export interface AnsweredQuery {
  readonly source: AdmissionSource;
  /** Number of granted requests that must not repay debt, because they are promised to waiting requests. */
  readonly kept: number;
  readonly sentAt: number;
}

export interface KeyRecords {
  find(pairId: string): KeyRecord | undefined;
  /** Whether a recent answer of the accounts service says that the API key is not valid. */
  isUnknown(key: string, now: number): boolean;
  /** Stores an answer of the accounts service about an API key. Returns undefined when the API key is not valid. */
  store(query: AnsweredQuery, grant: AdmissionGrant, now: number): KeyRecord | undefined;
  /** Deletes the expired records of API keys. */
  sweep(now: number): void;
  /**
   * Removes and returns granted requests that were not used: the requests that were granted more than 3 s ago or, if
   * `all` is true, all requests.
   */
  takeUnused(now: number, all: boolean): readonly { source: AdmissionSource; count: number }[];
}

function toRecord(
  query: AnsweredQuery,
  key: NonNullable<AdmissionGrant["key"]>,
  ttlMs: number,
  workspace: KeyRecord["workspace"],
): KeyRecord {
  // The expiry of the API key is compared with the clock of this process, which may be wrong. Afterwards the accounts
  // service decides by the database's clock.
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
 * Creates the store for answers of the accounts service about API keys, and for the request budgets of their
 * workspaces. Both are bounded in number and short-lived.
 */
export function createKeyRecords(): KeyRecords {
  const records = new BoundedMap<string, KeyRecord>(MAX_RECORDS);
  // Time until which each API key is known to be invalid. This map is separate from `records`, so that a flood of
  // invalid API keys does not evict the record of a valid API key.
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
      // Answers of the accounts service may arrive out of order: the answer to the newest query is kept.
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
