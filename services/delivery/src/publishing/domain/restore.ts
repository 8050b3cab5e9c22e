/** Changes when the data is restored from a backup. */
export interface DataCopy {
  /** Object id of the table `deployment`, which changes when a dump is loaded. */
  readonly tableOid: number;
  /** Every recovery from a backup and every promotion of a standby begins a new one. */
  readonly timeline: number;
}

/** What the data records about its restores; `restoredAt` identifies one. */
export interface RestoreRecord {
  readonly restoredAt: Date | null;
  /** Time up to which the restored data is complete; null if it is not known. */
  readonly dataUntil: Date | null;
  /** Time of the restore that can be declared lossless; null if no restore was recorded. */
  readonly undoFor: Date | null;
  /** Time of the latest restore that is known to have lost commits. */
  readonly lossyAt: Date | null;
  readonly trustedAt: Date | null;
}

export type RestoreReason = "timeline" | "reloaded" | "rewound";

/**
 * Detects that the data is older than the work that was done with it. The `seenAt` of `stored`
 * never decreases without a restore; `current` is where the data is now; `rememberedAt` is the
 * latest `seenAt` that this process has read.
 */
export function findRestore(
  stored: DataCopy & { readonly seenAt: Date },
  current: DataCopy,
  rememberedAt: Date | undefined,
): RestoreReason | undefined {
  if (stored.timeline !== current.timeline) return "timeline";
  if (stored.tableOid !== current.tableOid) return "reloaded";
  return rememberedAt !== undefined && stored.seenAt < rememberedAt ? "rewound" : undefined;
}

/**
 * Detects that a restore which another process has recorded lost commits: this process knows how
 * far the data had come. If several restores count as one, `dataUntil` belongs to the oldest, and
 * the latest is assumed to have lost commits.
 */
export function findUnseenLoss(
  stored: DataCopy & RestoreRecord,
  remembered: DataCopy & { readonly seenAt: Date },
): Date | undefined {
  const { restoredAt, undoFor, dataUntil, lossyAt } = stored;
  const isMoved =
    stored.timeline !== remembered.timeline || stored.tableOid !== remembered.tableOid;
  if (!isMoved || restoredAt === null || toMs(undoFor) !== toMs(restoredAt)) return undefined;
  if (toMs(lossyAt) === toMs(restoredAt)) return undefined;
  return dataUntil !== null && dataUntil < remembered.seenAt ? restoredAt : undefined;
}

export type TrustRefusal =
  /** The data's timeline or table differs from the recorded: a process will record the restore. */
  | "unnoticed"
  | "not_restored"
  | "already_trusted"
  /** A process had read later data before the restore. */
  | "data_lost"
  | "too_old";

/**
 * A switchover of Postgres is not always recorded as a restore. An operator who then wants to trust
 * the switchover must not trust an old restore instead, whose tasks would be sent without a search.
 */
const TRUST_MS = 24 * 60 * 60_000;

/** If lossless, the targets that it made uncertain are sent without a search. */
export function findTrustRefusal(
  stored: DataCopy & RestoreRecord & { readonly seenAt: Date },
  current: DataCopy,
  now: Date,
): TrustRefusal | undefined {
  if (findRestore(stored, current, undefined) !== undefined) return "unnoticed";
  const { restoredAt, undoFor, lossyAt, trustedAt } = stored;
  if (trustedAt !== null && toMs(restoredAt) <= toMs(trustedAt)) return "already_trusted";
  if (restoredAt === null) return "not_restored";
  // Without the state before the restore, nothing shows that the restore lost nothing.
  if (toMs(lossyAt) === toMs(restoredAt) || toMs(undoFor) !== toMs(restoredAt)) return "data_lost";
  return now.getTime() - restoredAt.getTime() > TRUST_MS ? "too_old" : undefined;
}

function toMs(instant: Date | null): number {
  return instant?.getTime() ?? Number.NEGATIVE_INFINITY;
}
