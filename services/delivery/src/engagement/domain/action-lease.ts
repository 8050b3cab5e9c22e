/**
 * Duration of the lease of an action, in leases of publish tasks. It is not renewed: two platform calls of at most one such lease
 * each, with a token renewal between them, fit into it.
 */
const LEASES_PER_ACTION = 3;

/** Returns the duration of the lease of an action in milliseconds. */
export function actionLeaseMs({ leaseMs }: { readonly leaseMs: number }): number {
  return leaseMs * LEASES_PER_ACTION;
}
