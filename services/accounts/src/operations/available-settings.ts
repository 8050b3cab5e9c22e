import type { createAvailableReaders } from "@postrider/platforms/authorizations";
import { isPlatformId } from "@postrider/platforms/platform-id";
import type { AvailableReader } from "@postrider/platforms/settings/available-reader";
import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import type { LogFields } from "@postrider/shared/telemetry/logger";
import { setAvailable } from "#src/db/account-settings.ts";
import type { AccountKey } from "#src/db/accounts.ts";
import type { CredentialRow } from "#src/db/credentials.ts";
import type { AvailableValues, Dependencies } from "#src/operations/dependencies.ts";
import { listFreshCredentials } from "#src/operations/list-fresh-credentials.ts";
import { unsealToken } from "#src/operations/token-sealing.ts";

type Deps = Pick<Dependencies, "sql" | "logger" | "credentialKeys" | "refreshTokens">;

/** Maximum time that a request for the settings of an account waits for the platform. */
const CALL_TIMEOUT_MS = 3_000;
/**
 * How long the platform's answer about an account's options is reused. TikTok allows 20 calls per
 * minute and account, and publishing needs such calls too.
 */
const FRESH_MS = 15_000;
const MAX_ANSWERS = 1_000;

interface Answer {
  readonly values: Promise<AvailableValues | null>;
  readonly until: number;
}

/**
 * Asks platforms which options they offer an account now, for example who may see its posts. An
 * answer is reused for 15 s. Without an answer the result is null, because the settings of an
 * account must be readable even while its platform fails.
 */
export class AvailableSettings {
  readonly #deps: Deps;
  readonly #readers: ReturnType<typeof createAvailableReaders>;
  readonly #answers = new BoundedMap<string, Answer>(MAX_ANSWERS);

  constructor(deps: Deps, readers: ReturnType<typeof createAvailableReaders>) {
    this.#deps = deps;
    this.#readers = readers;
  }

  async read(key: AccountKey, platform: string): Promise<AvailableValues | null> {
    const reader = isPlatformId(platform) ? this.#readers[platform] : undefined;
    if (reader === undefined) return null;
    const id = `${key.workspaceId} ${key.accountId}`;
    const known = this.#answers.get(id);
    if (known !== undefined && performance.now() < known.until) return await known.values;
    const values = this.#ask(key, reader);
    this.#answers.set(id, { values, until: performance.now() + FRESH_MS });
    return await values;
  }

  async #ask(key: AccountKey, reader: AvailableReader): Promise<AvailableValues | null> {
    const { accountId } = key;
    try {
      const [row] = await listFreshCredentials(this.#deps, [key]);
      if (row === undefined || row.accountStatus !== "active") return null;
      const reading = await this.#call(row, reader);
      if (reading.kind === "available") {
        await this.#remember(key, reading.values);
        return reading.values;
      }
      this.#warn({ accountId, reason: reading.message });
    } catch (error) {
      this.#warn({ accountId, err: error });
    }
    return null;
  }

  async #call(row: CredentialRow, reader: AvailableReader) {
    const { externalId, username, attributes, accessToken } = row;
    if (accessToken === null) return { kind: "failed", message: "the token was deleted" } as const;
    const token = unsealToken(this.#deps, row, "access_token", accessToken);
    const account = { externalId, username, attributes, accessToken: token };
    return await reader(account, AbortSignal.timeout(CALL_TIMEOUT_MS));
  }

  /** Without the stored answer posts are validated less strictly. */
  async #remember(key: AccountKey, values: AvailableValues): Promise<void> {
    try {
      await setAvailable(this.#deps.sql, key, values);
    } catch (error) {
      const { accountId } = key;
      const log = { accountId, err: error };
      this.#deps.logger.warn(
        log,
        "the setting values that the platform offers an account could not be stored; the account's posts are validated less strictly",
      );
    }
  }

  #warn(log: LogFields): void {
    this.#deps.logger.warn(
      log,
      "the platform did not return the values that an account's settings may have; the response leaves these values out",
    );
  }
}
