import type { LoginValues } from "@postrider/platforms/authorization/connector";
import { invalidRequest, unavailable } from "@postrider/shared/errors";
import { request } from "undici";

const TIMEOUT_MS = 15_000;

/** Accounts to make on the simulator. */
export interface SimulatedAccountsRequest {
  readonly platform: string;
  /** One that exists there stands for that same external account. */
  readonly username: string | undefined;
  readonly count: number;
}

function readLogins(body: unknown): readonly LoginValues[] {
  const { accounts } = body as { accounts: readonly { credentials: LoginValues }[] };
  return accounts.map((account) => account.credentials);
}

/**
 * Makes accounts on the simulator and returns what a person would type in to connect each.
 *
 * @throws ServiceError `invalid_request` when it cannot make such accounts, `unavailable` when it does not answer.
 */
export async function createSimulatedAccounts(
  simulatorUrl: string,
  { platform, username, count }: SimulatedAccountsRequest,
): Promise<readonly LoginValues[]> {
  const answer = await request(`${simulatorUrl}/_control/accounts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ platform, count, ...(username === undefined ? {} : { username }) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw unavailable(error);
  });
  const body: unknown = await answer.body.json().catch(() => undefined);
  if (answer.statusCode === 201) return readLogins(body);
  if (answer.statusCode === 400)
    throw invalidRequest([{ code: "not_simulated", path: "/username" }]);
  throw unavailable(new Error(`the simulator answered ${answer.statusCode}`));
}
