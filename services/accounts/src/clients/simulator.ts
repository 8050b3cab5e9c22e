import type { EnteredCredentials } from "@postrider/platforms/authorization/connector";
import { invalidRequest, unavailable } from "@postrider/shared/errors";
import { request } from "undici";

const TIMEOUT_MS = 15_000;

export interface SimulatedAccountsRequest {
  readonly platform: string;
  /**
   * Username of the accounts to create; undefined lets the simulator choose usernames. The username
   * of an existing simulated account selects that account.
   */
  readonly username: string | undefined;
  readonly count: number;
  /** Permissions of the tokens; undefined = all that the platform knows. */
  readonly permissions: readonly string[] | undefined;
}

function readCredentials(body: unknown): readonly EnteredCredentials[] {
  const { accounts } = body as { accounts: readonly { credentials: EnteredCredentials }[] };
  return accounts.map((account) => account.credentials);
}

/**
 * Creates accounts on the simulated platforms. Returns for each account the credentials that a
 * person would enter to connect it.
 *
 * @throws ServiceError `invalid_request` when the simulator rejects the request, `unavailable` when
 *   it does not answer.
 */
export async function createSimulatedAccounts(
  simulatorUrl: string,
  { platform, username, count, permissions }: SimulatedAccountsRequest,
): Promise<readonly EnteredCredentials[]> {
  const answer = await request(`${simulatorUrl}/_control/accounts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ platform, username, count, permissions }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw unavailable(error);
  });
  const body: unknown = await answer.body.json().catch(() => undefined);
  if (answer.statusCode === 201) return readCredentials(body);
  if (answer.statusCode === 400)
    throw invalidRequest([{ code: "not_simulated", path: "/username" }]);
  throw unavailable(new Error(`the simulator answered ${answer.statusCode}`));
}
