import type { ISql } from "@postrider/shared/postgres";
import type { SealingKey } from "@postrider/shared/secrets/sealing";
import { listSigningSecrets, openSecret, type SigningSecret } from "#src/webhooks/db/secrets.ts";
import { listSubscriptionsByIds } from "#src/webhooks/db/subscriptions.ts";
import { createSigner, type Signer } from "#src/webhooks/domain/signature.ts";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";

interface CachedSigner {
  readonly signer: Signer;
  /** When the secret stops signing, as an instant of `performance.now()`. */
  readonly expiresAt: number;
}

export interface Receiver {
  readonly subscriptionId: string;
  readonly version: number;
  readonly isActive: boolean;
  readonly url: string;
  readonly origin: string;
  readonly hostname: string;
  readonly port: number;
  /** Path of the endpoint, with the query. */
  readonly path: string;
  readonly maxPerSecond: number | null;
  /** Returns the signers of an attempt, newest first. */
  signersAt(now: number): readonly Signer[];
}

/**
 * Decrypts a signing secret of a webhook subscription.
 *
 * @throws SealError when the secret was changed in the database, or when its key is missing.
 */
function toCachedSigner(
  keys: readonly SealingKey[],
  secret: SigningSecret,
  now: number,
): CachedSigner {
  const expiresInMs = secret.expiresInMs ?? Number.POSITIVE_INFINITY;
  return {
    signer: createSigner(openSecret(keys, secret)),
    expiresAt: now + expiresInMs,
  };
}

function toReceiver(row: Subscription, signers: readonly CachedSigner[]): Receiver {
  const url = new URL(row.url);
  return {
    subscriptionId: row.id,
    version: row.version,
    isActive: row.status === "active",
    url: row.url,
    origin: url.origin,
    hostname: url.hostname,
    port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
    path: url.pathname + url.search,
    maxPerSecond: row.maxPerSecond,
    signersAt: (now) =>
      signers.filter(({ expiresAt }) => expiresAt > now).map(({ signer }) => signer),
  };
}

export type LoadedReceiver =
  | { readonly kind: "ready"; readonly receiver: Receiver }
  | { readonly kind: "unusable"; readonly error: unknown };

/**
 * An endpoint is unusable while the key of a secret is missing, because nothing is sent without a
 * signature.
 */
export async function loadReceivers(
  sql: ISql,
  keys: readonly SealingKey[],
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, LoadedReceiver>> {
  // The version of a webhook subscription is read before its secrets. If they are rotated in
  // between, the next claim sees another version.
  const rows = await listSubscriptionsByIds(sql, subscriptionIds);
  const secrets = await listSigningSecrets(sql, subscriptionIds);
  const now = performance.now();
  const bySubscription = Map.groupBy(secrets, ({ subscriptionId }) => subscriptionId);
  const load = (row: Subscription): LoadedReceiver => {
    try {
      const own = bySubscription.get(row.id) ?? [];
      const signers = own.map((secret) => toCachedSigner(keys, secret, now));
      if (row.status === "active" && signers.length === 0)
        throw new Error("the webhook subscription has no signing secret");
      return { kind: "ready", receiver: toReceiver(row, signers) };
    } catch (error) {
      return { kind: "unusable", error };
    }
  };
  return new Map(rows.map((row) => [row.id, load(row)]));
}
