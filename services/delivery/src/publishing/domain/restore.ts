/** Properties of the Postgres storage that change when the data of a deployment is restored from a backup. */
export interface DataCopy {
  /** Object id of the table `deployment`, which changes when a dump is loaded. */
  readonly tableOid: number;
  /**
   * Timeline of the Postgres cluster. Every recovery from a backup and every promotion of a standby begins a new timeline.
   */
  readonly timeline: number;
}

/** What the data records about restores from a backup. An id of a restore is its `restoredAt`. */
export interface RestoreRecord {
  /** The latest restore because of which targets may have been published; null if there is none. */
  readonly restoredAt: Date | null;
  /** Time up to which the restored data is complete; null if it is not known. */
  readonly dataUntil: Date | null;
  /** The restore that can be declared lossless; null if no restore was recorded. */
  readonly undoFor: Date | null;
  /** The latest restore that is known to have lost commits. */
  readonly lossyAt: Date | null;
  /** The restore that an operator declared lossless last. */
  readonly trustedAt: Date | null;
}

export type RestoreReason = "timeline" | "reloaded" | "rewound";

/**
 * Detects that the data was restored from a backup and is older than the work that was done with it.
 *
 * @param stored The properties that were recorded in the data. Their `seenAt` never decreases unless the data is
 * restored. @param current The properties of the Postgres cluster and table in which the data is now. @param
 * rememberedAt The latest `seenAt` that this process has read; undefined before its first read. @returns How the
 * restore was detected; undefined if the data was not restored.
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

/** Why an operator cannot declare the latest restore lossless. */
export type TrustRefusal =
  /** The data is in another place than it records, so a restore will be recorded soon. */
  | "unnoticed"
  | "not_restored"
  | "already_trusted"
  /** A process had read later data before the restore. */
  | "data_lost"
  /** A process of an older release recorded the restore, without the state before it. */
  | "older_release"
  | "too_old";

/**
 * Maximum age of a restore that can be declared lossless, in milliseconds. An operator who declares a switchover lossless that
 * was not recorded as a restore must not release the doubts of an old restore.
 */
const TRUST_MS = 24 * 60 * 60_000;

/**
 * Decides whether an operator can declare the latest restore lossless. After that, the targets that it left in doubt are sent
 * without a search.
 */
export function findTrustRefusal(
  stored: DataCopy & RestoreRecord & { readonly seenAt: Date },
  current: DataCopy,
  now: Date,
): TrustRefusal | undefined {
  if (findRestore(stored, current, undefined) !== undefined) return "unnoticed";
  const { restoredAt, undoFor, lossyAt, trustedAt } = stored;
  if (trustedAt !== null && toMs(restoredAt) <= toMs(trustedAt)) return "already_trusted";
  if (restoredAt === null) return "not_restored";
  if (toMs(undoFor) !== toMs(restoredAt)) return "older_release";
  if (toMs(lossyAt) === toMs(restoredAt)) return "data_lost";
  return now.getTime() - restoredAt.getTime() > TRUST_MS ? "too_old" : undefined;
}

function toMs(instant: Date | null): number {
  return instant?.getTime() ?? Number.NEGATIVE_INFINITY;
}
