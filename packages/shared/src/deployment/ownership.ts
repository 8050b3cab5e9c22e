/**
 * Identifies the database that stores the data and the deployment that uses it. A copy of the data in another database
 * or deployment differs in at least one field.
 */
export interface Deployment {
  /** Identifier of the Postgres cluster, created by initdb. */
  readonly systemIdentifier: string;
  readonly databaseOid: number;
  /** Value of the setting `DEPLOYMENT_ID`. */
  readonly deploymentId: string;
}

/** Which of the three identifiers shows that the data belongs to another deployment. */
export type ForeignReason = "system_identifier" | "database" | "deployment";

/** Whether the data belongs to the deployment of a process, so that the process may act on it. */
export type Ownership =
  | { readonly kind: "own" }
  /** The data is a copy: a process of another deployment may be working with the original. */
  | { readonly kind: "foreign"; readonly reason: ForeignReason }
  /**
   * The data belongs to this deployment but was restored from a backup. The process may use it once an operator has
   * recorded the restore.
   */
  | { readonly kind: "restored" };

/**
 * Compares the deployment that the data belongs to with the deployment that uses the data.
 *
 * @returns The first difference, or `own`. The result is never `restored`: a database that was restored from a backup
 * has the same three identifiers.
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
