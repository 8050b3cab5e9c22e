/** What a restore of a deployment's own data changes. */
export interface DataCopy {
  /** Of the table `deployment`: loading a dump makes another one. */
  readonly tableOid: number;
  /** Of the Postgres cluster: every recovery from a backup, and every promotion of a standby, begins a new one. */
  readonly timeline: number;
}

export type RestoreReason = "timeline" | "reloaded" | "rewound";

/**
 * Detects that data is older than what was done with it.
 *
 * @param stored As recorded in the data; `seenAt` never goes back while the data goes on.
 * @param current Where the data lies now.
 * @param rememberedAt The latest `seenAt` that this process has read; undefined before the first.
 * @returns How the restore shows; undefined when the data was not restored.
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
