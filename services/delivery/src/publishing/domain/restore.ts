/**
 * Properties of the Postgres storage that change when the data of a deployment is restored from a
 * backup.
 */
export interface DataCopy {
  /** Object id of the table `deployment`, which changes when a dump is loaded. */
  readonly tableOid: number;
  /**
   * Timeline of the Postgres cluster. Every recovery from a backup and every promotion of a standby
   * begins a new timeline.
   */
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
 * Detects that the data was restored from a backup and is older than the work that was done with
 * it.
 *
 * @param stored The properties that were recorded in the data. Their `seenAt` never decreases
 *   unless the data is restored.
 * @param current The properties of the Postgres cluster and table in which the data is now.
 * @param rememberedAt The latest `seenAt` that this process has read; undefined before its first
 *   read.
 * @returns How the restore was detected; undefined if the data was not restored.
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
 * Detects that a restore which another process has recorded lost commits. That process may have
 * started after the restore, so that it did not know how far the data had come; this process knows.
 *
 * @param remembered What this process had read last.
 * @returns The time of the restore; undefined if no such restore is known to have lost commits. If
 *   several restores count as one, `dataUntil` belongs to the oldest of them, and the latest is
 *   assumed to have lost commits.
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
 * Maximum age of a restore that can be declared lossless, in milliseconds. A switchover of Postgres
 * is not always recorded as a restore. When an operator then wants to declare the switchover
 * lossless, an old restore must not be declared lossless instead: the tasks that it made uncertain
 * would be sent without a search.
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
