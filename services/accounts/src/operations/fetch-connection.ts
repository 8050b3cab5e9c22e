import type {
  Connection,
  AuthorizationConnector,
  EnteredCredentials,
} from "@postrider/platforms/authorization/connector";
import { invalidRequest, unavailable } from "@postrider/shared/errors";

const CONNECT_TIMEOUT_MS = 15_000;

/**
 * Asks the platform which account the entered credentials belong to.
 *
 * @throws ServiceError `invalid_request` with the reason `login_refused` when the platform refuses the credentials, or
 *   `unavailable` when it does not answer.
 */
export async function fetchConnection(
  connector: AuthorizationConnector,
  credentials: EnteredCredentials,
): Promise<Connection> {
  const result = await connector.connect(credentials, AbortSignal.timeout(CONNECT_TIMEOUT_MS));
  if (result.kind === "connected") return result.connection;
  if (result.kind === "refused")
    throw invalidRequest([{ code: "login_refused", path: "/platform" }]);
  throw unavailable(new Error(result.message));
}
