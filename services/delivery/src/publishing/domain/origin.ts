/** Where data lies: what a copy of it, or a restore, cannot take along. */
export interface DataPlace {
  /** Of the Postgres cluster, made by initdb. */
  readonly systemIdentifier: string;
  readonly databaseOid: number;
  /** Of the table that keeps the origin: a dump that is loaded makes another one. */
  readonly tableOid: number;
  /** Every recovery from a backup, and every promotion of a standby, begins a new one. */
  readonly timeline: number;
}

/** Where data belongs, and when it was last seen there. */
export interface Origin extends DataPlace {
  readonly deploymentId: string;
  /** Never goes back while the data goes on. */
  readonly seenAt: Date;
}

/** What this process knows without the data. */
export interface Observer {
  readonly deploymentId: string;
  /** The latest `seenAt` that it has met; undefined before the first. */
  readonly rememberedAt: Date | undefined;
}

export type Judgement =
  | { readonly kind: "ours" }
  /** The data is ours and older than what was done with it. */
  | { readonly kind: "restored"; readonly reason: "timeline" | "reloaded" | "rewound" }
  /** A copy: somebody else may be publishing from the original. */
  | {
      readonly kind: "foreign";
      readonly reason: "system_identifier" | "database" | "deployment";
    };

/** Whether data may be published from where it lies now, and whether it knows all that was published from it. */
export function judgeOrigin(origin: Origin, place: DataPlace, observer: Observer): Judgement {
  if (origin.systemIdentifier !== place.systemIdentifier)
    return { kind: "foreign", reason: "system_identifier" };
  if (origin.databaseOid !== place.databaseOid) return { kind: "foreign", reason: "database" };
  if (origin.deploymentId !== observer.deploymentId)
    return { kind: "foreign", reason: "deployment" };
  if (origin.timeline !== place.timeline) return { kind: "restored", reason: "timeline" };
  if (origin.tableOid !== place.tableOid) return { kind: "restored", reason: "reloaded" };
  const { rememberedAt } = observer;
  return rememberedAt !== undefined && origin.seenAt < rememberedAt
    ? { kind: "restored", reason: "rewound" }
    : { kind: "ours" };
}
