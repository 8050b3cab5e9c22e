/**
 * Duration of the lease of an action, as a multiple of the lease of publish tasks. The lease of an action is not renewed. It
 * must be long enough for two platform calls and a token renewal between them.
 */
const LEASES_PER_ACTION = 3;

/** Returns the duration of the lease of an action in milliseconds. */
export function actionLeaseMs({ leaseMs }: { readonly leaseMs: number }): number {
  return leaseMs * LEASES_PER_ACTION;
}
