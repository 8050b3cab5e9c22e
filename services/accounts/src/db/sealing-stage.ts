import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/**
 * The encryption stage: how far the database has moved to texts that are bound to the data of their rows. `unbound` = processes
 * of the previous release may run, so new texts are not bound · `resealing` = new texts are bound, and unbound ones are still
 * accepted · `bound` = unbound texts are refused.
 */
export type SealingStage = "unbound" | "resealing" | "bound";

/**
 * Returns an SQL condition: whether texts that are not bound to the data of their rows are accepted. The statement that
 * reads the texts has to contain the condition, so that the stage cannot change between the two. Without a row in the
 * table `sealing`, unbound texts are refused.
 */
export function isUnboundAccepted(sql: ISql) {
  return sql`exists (select 1 from sealing where stage <> 'bound')`;
}

/**
 * Returns the encryption stage, which cannot change until the transaction ends. A transaction that stores encrypted texts
 * calls this before it encrypts them.
 */
export async function holdSealingStage(tx: TransactionSql): Promise<SealingStage> {
  // The lock makes `lockSealingStage` wait until this transaction has stored its texts. So no text that is not bound is
  // overlooked when such texts are refused from then on.
  const [row] = await tx<{ stage: SealingStage }[]>`
    select stage
    from sealing
    for share`;
  return row?.stage ?? "bound";
}

export async function readSealingStage(sql: ISql): Promise<SealingStage> {
  const [row] = await sql<{ stage: SealingStage }[]>`
    select stage
    from sealing`;
  return row?.stage ?? "bound";
}

/**
 * Makes all processes bind the texts that they encrypt from now on to the data of their rows. Returns false when they already
 * do so.
 */
export async function beginResealing(tx: TransactionSql): Promise<boolean> {
  const rows = await tx`
    update sealing
    set stage = 'resealing'
    where stage = 'unbound'
    returning 1`;
  return rows.length > 0;
}

/** Locks the encryption stage until the transaction ends, so that no other transaction stores encrypted texts. */
export async function lockSealingStage(tx: TransactionSql): Promise<SealingStage> {
  const [row] = await tx<{ stage: SealingStage }[]>`
    select stage
    from sealing
    for update`;
  return row?.stage ?? "bound";
}

/**
 * Makes all processes refuse texts that are not bound to the data of their rows. The transaction must have called
 * `lockSealingStage` before.
 */
export async function endResealing(tx: TransactionSql): Promise<void> {
  await tx`
    update sealing
    set stage = 'bound'
    where stage = 'resealing'`;
}
