/** Properties of the Postgres storage that change when the data of a deployment is restored from a backup. */
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
