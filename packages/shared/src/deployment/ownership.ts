/**
 * Identifies the database that stores the data and the deployment that uses it. A copy of the data has another
 * identity.
 */
export interface Deployment {
  /** Identifier of the Postgres cluster, created by initdb. */
  readonly systemIdentifier: string;
  readonly databaseOid: number;
  /** Value of the setting `DEPLOYMENT_ID`. */
  readonly deploymentId: string;
}

/** Which part of the identity differs between the deployment that the data belongs to and the one that uses it. */
export type ForeignReason = "system_identifier" | "database" | "deployment";

/** Whether the data belongs to the deployment of a process, so that the process may act on it. */
export type Ownership =
  | { readonly kind: "own" }
  /** The data is a copy: another process may be acting on the original. */
  | { readonly kind: "foreign"; readonly reason: ForeignReason }
  /** The data is the deployment's own but was restored; it is usable once the restore is recorded. */
  | { readonly kind: "restored" };

/**
 * Compares the deployment that the data belongs to with the deployment that uses the data.
 *
 * @returns The first difference, or `own`. Never `restored`, because this comparison cannot see a restore.
 */
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
