import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AdmissionGrant } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import {
  addAnswer,
  newWorkspaceBudget,
  takePrepaid,
  type AdmissionSource,
  type WorkspaceBudget,
} from "#src/clients/admission/workspace-budget.ts";

const MAX_RECORDS = 10_000;
const MAX_UNKNOWN = 10_000;
/** An answer is used this long at most, counted from when it was asked for: so soon a revocation is felt. */
const MAX_TTL_MS = 3_000;
/** While accounts does not answer, a record may be used this much longer: a revocation is felt within 5 s even then. */
const OUTAGE_MS = 2_000;
/** Granted requests that nobody spent in this time go back. */
const PREPAID_MS = 3_000;
/** A budget that has not been asked about for this long is full anyway, and its debts with it. */
const BUDGET_IDLE_MS = 60_000;

/** A key that works, with the workspace that one of its requests named (or did not name). */
export interface KeyRecord {
  readonly keyId: string;
  readonly scopes: ReadonlySet<string>;
  /** Undefined when none could be chosen, or the key is no member of the one named. */
  readonly workspace: { readonly verified: boolean; readonly budget: WorkspaceBudget } | undefined;
  /** Asks for this record again. */
  readonly source: AdmissionSource;
  readonly askedAt: number;
  /** Until then the record decides. */
  readonly freshUntil: number;
  /** Until then it decides while accounts does not answer. */
  readonly usableUntil: number;
}

/** A question, and when it was asked. */
export interface Asked {
  readonly source: AdmissionSource;
  /** How much of the grant no debt may take: a debt that was not asked for must not refuse those who wait. */
  readonly kept: number;
  readonly askedAt: number;
}

export interface KeyRecords {
  find(slot: string): KeyRecord | undefined;
  /** Whether accounts said, so recently that it still counts, that the key does not work. */
  isUnknown(key: string, now: number): boolean;
  /** Learns one answer. Undefined when the key does not work. */
  learn(asked: Asked, grant: AdmissionGrant, now: number): KeyRecord | undefined;
  /** Forgets what is over. */
  sweep(now: number): void;
  /** Takes out what was granted and not spent: what is older than 3 s, or everything. */
  takeUnspent(now: number, all: boolean): readonly { source: AdmissionSource; count: number }[];
}

function toRecord(
  asked: Asked,
  key: NonNullable<AdmissionGrant["key"]>,
  ttlMs: number,
  workspace: KeyRecord["workspace"],
): KeyRecord {
  // By our own clock, which may be off: from here on accounts is asked, and the database's clock decides.
  const expiresAt = key.expiresAt === undefined ? Infinity : timestampMs(key.expiresAt);
  const over = asked.askedAt + Math.min(ttlMs, MAX_TTL_MS);
  return {
    keyId: key.id,
    scopes: new Set(key.scopes),
    workspace,
    source: asked.source,
    askedAt: asked.askedAt,
    freshUntil: Math.min(over, expiresAt),
    usableUntil: Math.min(over + OUTAGE_MS, expiresAt),
  };
}

/** What this process knows of keys and of their workspaces' budgets; every part of it is bounded and short-lived. */
export function createKeyRecords(): KeyRecords {
  const records = new BoundedMap<string, KeyRecord>(MAX_RECORDS);
  // By the key's text, until when. Apart from the records, so that a flood of bad keys pushes no good one out.
  const unknown = new BoundedMap<string, number>(MAX_UNKNOWN);
  const budgets = new BoundedMap<string, WorkspaceBudget>(MAX_RECORDS);

  function learnBudget(asked: Asked, grant: AdmissionGrant, now: number) {
    const { workspace, granted, remaining, emptyForMs } = grant;
    if (workspace === undefined) return undefined;
    const { source, askedAt, kept } = asked;
    const budget = budgets.get(workspace.id) ?? newWorkspaceBudget(workspace.id, source);
    const quota = workspace.requestsPerMinute;
    addAnswer(budget, { quota, granted, kept, remaining, emptyForMs, source, askedAt }, now);
    budgets.set(workspace.id, budget);
    return { verified: workspace.verified, budget };
  }

  function learnUnknown({ slot, key }: AdmissionSource, until: number): undefined {
    records.delete(slot);
    unknown.set(key, until);
  }

  return {
    find: (slot) => records.get(slot),
    isUnknown: (key, now) => (unknown.get(key) ?? -Infinity) > now,
    learn: (asked, grant, now) => {
      const ttlMs = Math.min(grant.ttlMs, MAX_TTL_MS);
      if (grant.key === undefined) return learnUnknown(asked.source, asked.askedAt + ttlMs);
      const record = toRecord(asked, grant.key, ttlMs, learnBudget(asked, grant, now));
      const newest = records.get(asked.source.slot);
      // Answers may overtake each other: the one that was asked for later knows better.
      if (newest === undefined || newest.askedAt <= record.askedAt)
        records.set(asked.source.slot, record);
      return record;
    },
    sweep: (now) => {
      records.deleteOldestWhile((record) => record.usableUntil <= now);
      unknown.deleteOldestWhile((until) => until <= now);
      budgets.deleteOldestWhile((budget) => budget.askedAt + BUDGET_IDLE_MS <= now);
    },
    takeUnspent: (now, all) =>
      [...budgets.values()]
        .filter((it) => it.prepaid > 0 && (all || it.prepaidAt + PREPAID_MS <= now))
        .map((it) => ({ source: it.source, count: takePrepaid(it) })),
  };
}
