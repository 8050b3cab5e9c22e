import type { EnvReader } from "#src/config.ts";

/** A copy of the data in another database or deployment differs in at least one field. */
export interface Deployment {
  /** Created by initdb. */
  readonly systemIdentifier: string;
  readonly databaseOid: number;
  /** The setting `DEPLOYMENT_ID`. */
  readonly deploymentId: string;
}

/** What shows that the data belongs to another deployment. */
export type ForeignReason = "system_identifier" | "database" | "deployment";

export type Ownership =
  | { readonly kind: "own" }
  /** A process of another deployment may be working with the original. */
  | { readonly kind: "foreign"; readonly reason: ForeignReason }
  /** Usable once an operator has recorded the restore. */
  | { readonly kind: "restored" };

/**
 * For this many minutes after a restore, in which no move begins, what is new or becomes due may
 * repeat what was done before: a client repeats a request without an answer, whose first record the
 * restore may have lost.
 */
export const REPEATS_MINUTES = 15;

/** Never `restored`: a restored database has the same three identifiers. */
export function compareDeployments(
  stored: Deployment,
  current: Deployment,
): Exclude<Ownership, { readonly kind: "restored" }> {
  if (stored.systemIdentifier !== current.systemIdentifier)
    return { kind: "foreign", reason: "system_identifier" };
  if (stored.databaseOid !== current.databaseOid) return { kind: "foreign", reason: "database" };
  if (stored.deploymentId !== current.deploymentId)
    return { kind: "foreign", reason: "deployment" };
  return { kind: "own" };
}

/** The name of the installation that a process belongs to. */
export function readDeploymentId(read: EnvReader): string {
  return read
    .about(
      "Name of this installation of Postrider. It is also stored in the database, in the object store, in the names of Kafka consumer groups and in events on Kafka, so that two installations may share brokers. If the database contains another name, Postrider treats the data as a copy: it publishes, sends and deletes nothing until an operator runs `postrider recovery adopt`.",
    )
    .string("DEPLOYMENT_ID", { default: "default" });
}
