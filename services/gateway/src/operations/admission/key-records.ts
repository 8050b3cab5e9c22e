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
 * How much longer than its maximum age a stored answer is used while the accounts service does not answer. Even then,
 * the revocation of an API key takes effect within 5 s.
 */
const OUTAGE_MS = 2_000;
/** Time after which granted API requests that were not used are returned to the accounts service. */
const UNUSED_GRANT_MS = 3_000;
/** Time after the last query about a workspace at which its whole rate limit is free again and the gateway forgets it. */
const BUDGET_IDLE_MS = 60_000;

/** What the gateway knows about a valid API key and about the workspace that a request with this key names. */
export interface KeyRecord {
  readonly keyId: string;
  readonly scopes: ReadonlySet<string>;
  /** Ids of the workspaces that the API key may use, as far as they are known. Used if `workspace` is undefined. */
  readonly workspaceIds: readonly string[];
  /**
   * The workspace of the request; undefined when the request has to name a workspace, or when the API key does not
   * belong to the workspace that the request names.
   */
  readonly workspace: { readonly verified: boolean; readonly budget: WorkspaceBudget } | undefined;
  /** The API key and workspace about which the accounts service is asked again when its stored answers are too old. */
  readonly source: AdmissionSource;
  /** Time until which the gateway uses the stored answers without asking the accounts service again. */
  readonly freshUntil: number;
  /** Time until which the gateway uses the stored answers while the accounts service does not answer. */
  readonly usableUntil: number;
}

/** The one stored answer of the accounts service about a valid API key, whichever workspaces the requests name. */
interface StoredKey {
  readonly keyId: string;
  readonly keyHash: Uint8Array;
  readonly scopes: ReadonlySet<string>;
  /** Number of workspaces that the API key may use. */
  readonly workspaceCount: number;
  /**
   * Ids of the workspaces that the API key may use. An accounts service of an earlier release tells only the id of the
   * workspace that the request uses.
   */
  readonly workspaceIds: ReadonlySet<string>;
  /** Time at which the accounts service was asked for this answer. */
  readonly sentAt: number;
  readonly freshUntil: number;
  readonly usableUntil: number;
}

/** The stored answer of the accounts service about a workspace, and the requests that the workspace may still make. */
interface StoredWorkspace {
  readonly verified: boolean;
  readonly budget: WorkspaceBudget;
  readonly freshUntil: number;
  readonly usableUntil: number;
}

/** An answered query: the accounts service has said whether an API key is valid for a workspace. */
export interface AnsweredQuery {
  readonly source: AdmissionSource;
  /**
   * Number of granted API requests that are set aside for waiting requests. The gateway does not deduct requests that
   * it admitted during an outage from them.
   */
  readonly kept: number;
  readonly sentAt: number;
}

export interface KeyRecords {
  /**
   * Finds the stored answers for a request that has this API key and names this workspace, or names no workspace if
   * `workspaceId` is undefined. Returns undefined when the gateway must ask the accounts service.
   */
  find(key: string, workspaceId: string | undefined): KeyRecord | undefined;
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

type Admitted = NonNullable<AdmissionGrant["key"]>;

/** Returns the times until which the gateway uses the answer to a query that it sent to the accounts service at `sentAt`. */
function lifeOf(sentAt: number, ttlMs: number) {
  const freshUntil = sentAt + Math.min(ttlMs, MAX_TTL_MS);
  return { freshUntil, usableUntil: freshUntil + OUTAGE_MS };
}

function toStoredKey(
  { source, sentAt }: AnsweredQuery,
  { id, scopes, workspaceCount, workspaceIds, expiresAt }: Admitted,
  { ttlMs, workspace }: AdmissionGrant,
): StoredKey {
  // The gateway compares the expiry of the API key with its own clock, which may be wrong. If the key has expired by
  // that clock, the accounts service decides by the database's clock.
  const endsAt = expiresAt === undefined ? Infinity : timestampMs(expiresAt);
  const { freshUntil, usableUntil } = lifeOf(sentAt, ttlMs);
  const used = workspace === undefined ? [] : [workspace.id];
  return {
    keyId: id,
    keyHash: source.keyHash,
    scopes: new Set(scopes),
    workspaceCount,
    workspaceIds: new Set(workspaceIds.length > 0 ? workspaceIds : used),
    sentAt,
    freshUntil: Math.min(freshUntil, endsAt),
    usableUntil: Math.min(usableUntil, endsAt),
  };
}

/**
 * Returns the workspace that a request uses; `none` when the request does not select a workspace of its API key;
 * `unknown` when only the accounts service can tell.
 */
function choose(
  { workspaceIds, workspaceCount }: StoredKey,
  named: string | undefined,
): { readonly id: string } | "none" | "unknown" {
  if (named !== undefined && workspaceIds.has(named)) return { id: named };
  const isComplete = workspaceIds.size >= workspaceCount;
  if (named !== undefined) return isComplete ? "none" : "unknown";
  if (workspaceCount !== 1) return "none";
  const [only] = workspaceIds;
  return only === undefined ? "unknown" : { id: only };
}

function toRecord(
  stored: StoredKey,
  workspace: StoredWorkspace | undefined,
  source: AdmissionSource,
): KeyRecord {
  const { keyId, scopes, workspaceIds, freshUntil, usableUntil } = stored;
  return {
    keyId,
    scopes,
    workspaceIds: workspace === undefined ? [...workspaceIds] : [],
    workspace,
    source,
    freshUntil: Math.min(freshUntil, workspace?.freshUntil ?? Infinity),
    usableUntil: Math.min(usableUntil, workspace?.usableUntil ?? Infinity),
  };
}

/** Stores the accounts service's answers about workspaces, and how many requests each workspace may still make. */
class WorkspaceRecords {
  readonly #stored = new BoundedMap<string, StoredWorkspace>(MAX_RECORDS);

  find(id: string): StoredWorkspace | undefined {
    return this.#stored.get(id);
  }

  store(query: AnsweredQuery, grant: AdmissionGrant, now: number): StoredWorkspace | undefined {
    const { workspace, granted, remaining, emptyForMs, ttlMs } = grant;
    if (workspace === undefined) return undefined;
    const { source, sentAt, kept } = query;
    const before = this.#stored.get(workspace.id);
    const budget = before?.budget ?? newWorkspaceBudget(workspace.id, source);
    const isNewest = sentAt >= budget.sentAt;
    const quota = workspace.requestsPerMinute;
    addAnswer(budget, { quota, granted, kept, remaining, emptyForMs, source, sentAt }, now);
    const answered = { verified: workspace.verified, budget, ...lifeOf(sentAt, ttlMs) };
    // Answers of the accounts service may arrive out of order: the gateway keeps the answer to the newest query.
    this.#stored.set(workspace.id, isNewest ? answered : (before ?? answered));
    return answered;
  }

  takeUnused(now: number, all: boolean): readonly { source: AdmissionSource; count: number }[] {
    return [...this.#stored.values()]
      .map(({ budget }) => budget)
      .filter((it) => it.prepaid > 0 && (all || it.prepaidAt + UNUSED_GRANT_MS <= now))
      .map((it) => ({ source: it.source, count: takePrepaid(it) }));
  }

  sweep(now: number): void {
    this.#stored.deleteOldestWhile(({ budget }) => budget.sentAt + BUDGET_IDLE_MS <= now);
  }
}

/**
 * Creates the store for the answers of the accounts service about API keys, and for the number of requests that each
 * workspace may still make. Both expire and are bounded in number: a caller with one API key occupies one record,
 * whatever workspaces its requests name.
 */
export function createKeyRecords(): KeyRecords {
  const keys = new BoundedMap<string, StoredKey>(MAX_RECORDS);
  // Time until which each API key is known to be invalid. This map is separate from `keys`, so that a flood of invalid
  // API keys does not evict the record of a valid API key.
  const unknown = new BoundedMap<string, number>(MAX_UNKNOWN_KEYS);
  const workspaces = new WorkspaceRecords();

  function find(key: string, workspaceId: string | undefined): KeyRecord | undefined {
    const stored = keys.get(key);
    const choice = stored === undefined ? "unknown" : choose(stored, workspaceId);
    if (stored === undefined || choice === "unknown") return undefined;
    const source = { key, keyHash: stored.keyHash, workspaceId };
    if (choice === "none") return toRecord(stored, undefined, source);
    const workspace = workspaces.find(choice.id);
    return workspace && toRecord(stored, workspace, source);
  }

  function storeUnknown({ key }: AdmissionSource, until: number): undefined {
    keys.delete(key);
    unknown.set(key, until);
  }

  return {
    find,
    isUnknown: (key, now) => (unknown.get(key) ?? -Infinity) > now,
    store: (query, grant, now) => {
      const { source, sentAt } = query;
      if (grant.key === undefined)
        return storeUnknown(source, sentAt + Math.min(grant.ttlMs, MAX_TTL_MS));
      const stored = toStoredKey(query, grant.key, grant);
      const newest = keys.get(source.key);
      if (newest === undefined || newest.sentAt <= sentAt) keys.set(source.key, stored);
      return toRecord(stored, workspaces.store(query, grant, now), source);
    },
    sweep: (now) => {
      keys.deleteOldestWhile(({ usableUntil }) => usableUntil <= now);
      unknown.deleteOldestWhile((until) => until <= now);
      workspaces.sweep(now);
    },
    takeUnused: (now, all) => workspaces.takeUnused(now, all),
  };
}
