import { setTimeout as sleep } from "node:timers/promises";
import type { Connector } from "@postrider/platforms/authorization/connector";
import { isPlatformId } from "@postrider/platforms/registry";
import { isInfrastructureError } from "@postrider/shared/postgres";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import type { AccountKey } from "#src/db/accounts.ts";
import {
  claimRefresh,
  listCredentials,
  shortenLease,
  writeRefreshed,
  type CredentialRow,
  type SealedCredential,
} from "#src/db/credentials.ts";
import { sealTokens, unsealToken } from "#src/rpc/credential-seals.ts";
import type { Deps } from "#src/rpc/deps.ts";
import { markReconnectRequired } from "#src/rpc/require-reconnect.ts";
import { revokeTokens } from "#src/rpc/revoke-tokens.ts";

/**
 * How a refresh ended: `settled` = the row says what holds now (new tokens, or reconnecting is needed), `busy` = somebody
 * else asks the platform or nobody should right now, `failed` = the platform did not answer anything definite.
 */
export type RefreshOutcome = "settled" | "busy" | "failed";

type RefresherDeps = Pick<
  Deps,
  "sql" | "logger" | "connectors" | "credentialKeys" | "deploymentId" | "nudge"
>;
type Current = Pick<CredentialRow, "workspaceId" | "accountId" | "platform" | "version">;

const refreshesTotal = createCounter(
  "credential_refreshes_total",
  "Answers of platforms that were asked for new tokens.",
  ["platform", "outcome"],
);

const CALL_TIMEOUT_MS = 15_000;
const MAX_WRITE_PAUSE_MS = 2_000;

/**
 * Renews access tokens, each by one process at a time (a lease in the row) and once in this process. A refresh that was
 * begun is finished whoever stops waiting for it: what the platform gave is written until this process dies, for the old
 * refresh token may be worth nothing any more. Disposing waits for the refreshes under way.
 */
export class CredentialRefresher implements AsyncDisposable {
  readonly #deps: RefresherDeps;
  readonly #underWay = new Map<string, Promise<RefreshOutcome>>();
  #stopping = false;

  constructor(deps: RefresherDeps) {
    this.#deps = deps;
  }

  /** Never throws for what the platform does; the outcome says it. */
  refresh(current: Current): Promise<RefreshOutcome> {
    const started = this.#underWay.get(current.accountId);
    if (started !== undefined) return started;
    if (this.#stopping) return Promise.resolve("busy");
    const work = this.#run(current).finally(() => this.#underWay.delete(current.accountId));
    this.#underWay.set(current.accountId, work);
    return work;
  }

  async #run(current: Current): Promise<RefreshOutcome> {
    const { workspaceId, accountId, version } = current;
    const renew = this.#findRenewal(current.platform);
    if (renew === undefined) return "failed";
    const key = { workspaceId, accountId };
    const { deploymentId } = this.#deps;
    const claim = await claimRefresh(this.#deps.sql, key, { version, deploymentId });
    if (claim === undefined) return "busy";
    const refreshToken = unsealToken(this.#deps, accountId, "refresh_token", claim.refreshToken);
    const { attributes } = claim;
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    const result = await renew({ refreshToken, attributes }, signal);
    refreshesTotal.inc({ platform: current.platform, outcome: result.kind });
    if (result.kind === "renewed") {
      // A platform that names no new refresh token goes on taking the old one.
      const tokens = { refreshToken, ...result.tokens };
      const sealed = sealTokens(this.#deps, accountId, tokens, attributes);
      const isWritten = await this.#write(key, version, { ...sealed, issuedAt: claim.claimedAt });
      if (!isWritten) await this.#revokeUnwanted({ ...key, platform: current.platform }, sealed);
      return "settled";
    }
    const { logger } = this.#deps;
    logger.warn({ accountId, platform: current.platform, reason: result.message }, "not refreshed");
    if (result.kind === "refused") {
      await markReconnectRequired(this.#deps, key, version);
      return "settled";
    }
    await shortenLease(this.#deps.sql, key, version);
    return "failed";
  }

  #findRenewal(platform: string): Connector["refresh"] {
    return isPlatformId(platform) ? this.#deps.connectors[platform]?.connector.refresh : undefined;
  }

  /** False when the account was connected again or given up meanwhile. */
  async #write(
    key: AccountKey,
    version: number,
    renewed: SealedCredential & { readonly issuedAt: Date },
  ): Promise<boolean> {
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, MAX_WRITE_PAUSE_MS)) {
      try {
        return await writeRefreshed(this.#deps.sql, key, version, renewed);
      } catch (error) {
        if (!isInfrastructureError(error)) throw error;
        this.#deps.logger.warn({ err: error, accountId: key.accountId }, "tokens not written yet");
        await sleep(pauseMs);
      }
    }
  }

  /** Tokens that came after a disconnect belong to nobody; the disconnect revoked those that it knew. */
  async #revokeUnwanted(
    account: AccountKey & { readonly platform: string },
    sealed: SealedCredential,
  ): Promise<void> {
    const [row] = await listCredentials(this.#deps.sql, [account]);
    if (row?.accountStatus === "disconnected") await revokeTokens(this.#deps, account, sealed);
  }

  /** Resolves when the refreshes that are under way now have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    await this.settled();
  }
}
