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
/** Time after which granted API requests that were not used are returned to the accounts service. */
const UNUSED_GRANT_MS = 3_000;
/**
 * Time after the last query to the accounts service at which a workspace has its whole rate limit again. The gateway
 * then no longer deducts requests that it admitted during an outage.
 */
const BUDGET_IDLE_MS = 60_000;

/**
 * The stored answer of the accounts service about a valid API key, and the workspace to which requests with this key
 * belong.
 */
export interface KeyRecord {
  readonly keyId: string;
  readonly scopes: ReadonlySet<string>;
  /**
   * The workspace of the requests; undefined when a request has to name a workspace, or when the API key does not
   * belong to the named one.
   */
  readonly workspace: { readonly verified: boolean; readonly budget: WorkspaceBudget } | undefined;
  /** The API key and workspace about which the accounts service is asked again when this stored answer is too old. */
  readonly source: AdmissionSource;
  /** Time at which the accounts service was asked for this stored answer about an API key. */
  readonly sentAt: number;
  /** Time until which the gateway uses this stored answer without asking the accounts service again. */
  readonly freshUntil: number;
  /** Time until which the gateway uses this stored answer while the accounts service does not answer. */
  readonly usableUntil: number;
}

/** A query about an API key that the accounts service has answered. */
export interface AnsweredQuery {
  readonly source: AdmissionSource;
  /**
   * Number of granted API requests that are promised to waiting requests. Requests admitted during an outage are not
   * deducted from them.
   */
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
  // The gateway compares the expiry of the API key with its own clock, which may be wrong. If the key has expired by
  // that clock, the accounts service decides by the database's clock.
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
 * Creates the store for the answers of the accounts service about API keys, and for the number of requests that each
 * workspace may still make. Both expire and are bounded in number.
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
      // Answers of the accounts service may arrive out of order: the gateway keeps the answer to the newest query.
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
