/** Values by which a restore of a deployment's own data is detected. */
export interface DataCopy {
  /** Object id of the table `deployment`, which changes when a dump is loaded. */
  readonly tableOid: number;
  /**
   * Timeline of the Postgres cluster. Every recovery from a backup and every promotion of a standby begins a new timeline.
   */
  readonly timeline: number;
}

export type RestoreReason = "timeline" | "reloaded" | "rewound";

/**
 * Detects that the data was restored and is older than the work that was done with it.
 *
 * @param stored The values that are recorded in the data. Their `seenAt` never decreases unless the data is restored.
 * @param current The values of the cluster and table in which the data is now.
 * @param rememberedAt The latest `seenAt` that this process has read; undefined before its first read.
 * @returns The sign by which the restore was detected; undefined if the data was not restored.
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
