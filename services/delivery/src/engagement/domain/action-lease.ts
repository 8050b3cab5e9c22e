/**
 * Duration of the lease of an action, as a multiple of the lease of publish tasks. It is not renewed, so it covers two platform
 * calls of at most one such lease each, and a token renewal between them.
 */
const LEASES_PER_ACTION = 3;

/** Returns the duration of the lease of an action in milliseconds. */
export function actionLeaseMs({ leaseMs }: { readonly leaseMs: number }): number {
  return leaseMs * LEASES_PER_ACTION;
}
