import { setTimeout as sleep } from "node:timers/promises";
import type { AuthorizationConnector, Tokens } from "@postrider/platforms/authorization/connector";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { appendAudit } from "@postrider/shared/audit/append";
import { appendEvents } from "@postrider/shared/outbox";
import { isInfrastructureError } from "@postrider/shared/postgres";
import type { LogFields } from "@postrider/shared/telemetry/logger";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import { lockAccount, setAccountStatus } from "#src/db/accounts.ts";
import {
  claimRefresh,
  pauseRefresh,
  type RefreshClaim,
  writeRefreshedTokens,
} from "#src/db/credential-refreshes.ts";
import { listCredentials } from "#src/db/credentials.ts";
import { accountConnected } from "#src/events.ts";
import { toAccountAudit } from "#src/operations/audit-records.ts";
import type {
  CurrentCredential,
  Dependencies,
  RefreshOutcome,
} from "#src/operations/dependencies.ts";
import { endUnusableToken, giveUpAfterRefresh } from "#src/operations/require-account-reconnect.ts";
import { revokeTokens } from "#src/operations/revoke-tokens.ts";
import { sealTokens, unsealToken } from "#src/operations/token-sealing.ts";

interface RefreshedTokens {
  readonly claim: RefreshClaim;
  /** The version of the credential for which the refresh lease was taken. */
  readonly version: number;
  readonly tokens: Tokens;
}

/**
 * Encrypts and stores the tokens that a refresh of the current credential has returned. They are
 * also stored if another process used the old refresh token, which this refresh had replaced, and
 * the platform refused it: that process gave up the account, and storing the tokens makes it active
 * again.
 *
 * @returns False when the account was connected again, disconnected or marked for a reconnect for
 *   another reason.
 */
async function storeRefreshedTokens(
  deps: Pick<Dependencies, "sql" | "nudge" | "credentialKeys">,
  { claim, version, tokens }: RefreshedTokens,
): Promise<boolean> {
  const { workspaceId, accountId, platform } = claim;
  const key = { workspaceId, accountId };
  const isStored = await deps.sql.begin(async (tx) => {
    const sealed = sealTokens(deps, claim, tokens);
    const refreshed = { ...sealed, issuedAt: claim.claimedAt };
    if (await writeRefreshedTokens(tx, key, refreshed, { version, isGivenUp: false })) return true;
    const account = await lockAccount(tx, key);
    if (account?.status !== "reconnect_required") return false;
    if (!(await writeRefreshedTokens(tx, key, refreshed, { version, isGivenUp: true })))
      return false;
    const change = await setAccountStatus(tx, key, "active");
    await appendEvents(tx, [accountConnected({ ...key, platform, ...change })]);
    const details = { platform, before: account.status, after: "active" };
    await appendAudit(tx, [toAccountAudit("account.reconnect", key, details)]);
    return true;
  });
  if (isStored) deps.nudge();
  return isStored;
}

type RefresherDependencies = Pick<
  Dependencies,
  "sql" | "logger" | "connectors" | "credentialKeys" | "deploymentId" | "otherCells" | "nudge"
>;

const refreshesTotal = createCounter(
  "credential_refreshes_total",
  "Token refresh requests to platforms, by the platform's answer.",
  ["platform", "outcome"],
);

const CALL_TIMEOUT_MS = 15_000;
const RETRY_AFTER_SECONDS = 5;
/**
 * Seconds that a process still has to store tokens that it received from the platform, after
 * another process took over its refresh lease and the platform refused the old refresh token.
 */
const PROVISIONAL_REFUSAL_SECONDS = 60;
const MIN_WRITE_PAUSE_MS = 50;
const MAX_WRITE_PAUSE_MS = 2_000;

/**
 * Refreshes access tokens. A lease in the database allows one process at a time to refresh a
 * credential, and a process runs one refresh per account. A refresh is completed even if its caller
 * gave up. After a refresh, the old refresh token is often invalid, so writing the new tokens is
 * tried again until it succeeds or the process ends. Disposing waits for the refreshes in progress.
 */
export class CredentialRefresher implements AsyncDisposable {
  readonly #deps: RefresherDependencies;
  readonly #inProgress = new Map<string, Promise<RefreshOutcome>>();
  #stopping = false;

  constructor(deps: RefresherDependencies) {
    this.#deps = deps;
  }

  refresh(current: CurrentCredential): Promise<RefreshOutcome> {
    const started = this.#inProgress.get(current.accountId);
    if (started !== undefined) return started;
    if (this.#stopping) return Promise.resolve("busy");
    const work = this.#claimAndRefresh(current).finally(() =>
      this.#inProgress.delete(current.accountId),
    );
    this.#inProgress.set(current.accountId, work);
    return work;
  }

  async #claimAndRefresh(current: CurrentCredential): Promise<RefreshOutcome> {
    const { platform, version } = current;
    if (this.#findRefresh(platform) === undefined) return "failed";
    const { sql, deploymentId } = this.#deps;
    const claim = await claimRefresh(sql, current, { version, deploymentId });
    if (claim === undefined) return "busy";
    // The platform comes from the claim, because the refresh token is bound to the platform that
    // the claim names.
    const refresh = this.#findRefresh(claim.platform);
    if (refresh === undefined) return "failed";
    const refreshToken = await this.#unsealOrEnd(current, claim);
    if (typeof refreshToken !== "string") return refreshToken.outcome;
    return await this.#refresh(current, claim, refreshToken, refresh);
  }

  /**
   * Decrypts the refresh token of a claim. If it cannot be decrypted, nothing is sent to the
   * platform: the account needs a reconnect, or, if only the key is missing, the lease ends.
   */
  async #unsealOrEnd(
    current: CurrentCredential,
    claim: RefreshClaim,
  ): Promise<string | { readonly outcome: RefreshOutcome }> {
    try {
      return unsealToken(this.#deps, claim, "refresh_token", claim.refreshToken);
    } catch (error) {
      if ((await endUnusableToken(this.#deps, current, error)) === "reconnect_required")
        return { outcome: "settled" };
      await this.#pause(current, claim);
      return { outcome: "failed" };
    }
  }

  #findRefresh(platform: string): AuthorizationConnector["refresh"] {
    return isPlatformId(platform) ? this.#deps.connectors[platform]?.connector.refresh : undefined;
  }

  async #refresh(
    current: CurrentCredential,
    claim: RefreshClaim,
    refreshToken: string,
    refresh: NonNullable<AuthorizationConnector["refresh"]>,
  ): Promise<RefreshOutcome> {
    const { accountId, platform, attributes } = claim;
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    const result = await refresh({ refreshToken, attributes }, signal);
    refreshesTotal.inc({ platform, outcome: result.kind });
    if (result.kind === "renewed") {
      // If the platform returns no new refresh token, the stored refresh token stays valid.
      const tokens = { refreshToken, ...result.tokens };
      await this.#store(current, { claim, version: current.version, tokens });
      return "settled";
    }
    const log = { accountId, platform, reason: result.message };
    if (result.kind === "refused") return await this.#endRefused(current, claim, log);
    this.#deps.logger.warn(
      log,
      "the platform did not answer a token refresh; the refresh can be tried again after 5 s",
    );
    await this.#pause(current, claim);
    return "failed";
  }

  /** Lets processes claim the refresh lease again after 5 s, because this refresh got no answer. */
  async #pause(current: CurrentCredential, claim: RefreshClaim): Promise<void> {
    // Without an answer it is still unknown whether the process whose lease was taken over has new
    // tokens. So the next refusal of the old refresh token must not require a reconnect at once.
    const pause = { seconds: RETRY_AFTER_SECONDS, isEnded: !claim.isTakenOver };
    await pauseRefresh(this.#deps.sql, current, claim, pause);
  }

  /**
   * Gives up an account whose token refresh the platform refused. If the refresh lease was taken
   * over from a process that did not end it, that process may have replaced the refresh token. The
   * first refusal then only starts a pause in which that process can store the new tokens.
   */
  async #endRefused(
    current: CurrentCredential,
    claim: RefreshClaim,
    log: LogFields,
  ): Promise<RefreshOutcome> {
    const { sql, logger } = this.#deps;
    if (claim.isTakenOver) {
      logger.warn(
        log,
        "the platform refused a token refresh; another process may have refreshed the tokens without storing them yet, so the refresh is tried again in a minute",
      );
      const pause = { seconds: PROVISIONAL_REFUSAL_SECONDS, isEnded: true };
      await pauseRefresh(sql, current, claim, pause);
      return "failed";
    }
    logger.warn(log, "the platform refused a token refresh; the account must be connected again");
    return (await giveUpAfterRefresh(this.#deps, current, claim)) ? "settled" : "busy";
  }

  async #store(current: CurrentCredential, refreshed: RefreshedTokens): Promise<void> {
    if (await this.#write(refreshed)) return;
    const [row] = await listCredentials(this.#deps.sql, [current]);
    // The account was disconnected during this refresh, and only its old tokens were revoked. The
    // new tokens are not stored, so this process must revoke them.
    if (row?.accountStatus !== "disconnected") return;
    const { claim, tokens } = refreshed;
    const { accessToken, refreshToken } = tokens;
    const { attributes } = claim;
    await revokeTokens(this.#deps, claim, () => ({ accessToken, refreshToken, attributes }));
  }

  /**
   * Writes refreshed tokens and tries again until the database answers. Returns false when another
   * change of the credential was written first.
   */
  async #write(refreshed: RefreshedTokens): Promise<boolean> {
    const { accountId } = refreshed.claim;
    for (let pauseMs = MIN_WRITE_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_WRITE_PAUSE_MS))
      try {
        return await storeRefreshedTokens(this.#deps, refreshed);
      } catch (error) {
        if (!isInfrastructureError(error)) throw error;
        this.#deps.logger.warn(
          { err: error, accountId },
          "refreshed tokens could not be stored because the database failed; the write is tried again",
        );
        await sleep(pauseMs);
      }
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#inProgress.values());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    await this.settled();
  }
}
