import type { Sql } from "@postrider/shared/postgres";

/** By the connection pool with which a test stores the work of its workers. */
const nudgesOf = new WeakMap<Sql, Set<() => void>>();

/** Until the returned function is called. */
export function addNudge(sql: Sql, nudge: () => void): () => void {
  const nudges = nudgesOf.get(sql) ?? new Set();
  nudgesOf.set(sql, nudges.add(nudge));
  return () => void nudges.delete(nudge);
}

/**
 * Tells the workers of a database that a test has stored work for them, as a delivery process does
 * after each event and request. Otherwise each of them would find the work up to a second later.
 */
export function nudgeWorkers(sql: Sql): void {
  for (const nudge of nudgesOf.get(sql) ?? []) nudge();
}
