import type {
  Connection,
  AuthorizationConnector,
  EnteredCredentials,
} from "@postrider/platforms/authorization/connector";
import { invalidRequest, ServiceError } from "@postrider/shared/errors";

const CONNECT_TIMEOUT_MS = 15_000;
const RETRY_MS = 1_000;

/**
 * Asks the platform which account the entered credentials belong to.
 *
 * @throws ServiceError with a violation whose `reason` says what happened: `invalid_request` with `login_refused` when the
 *   platform refuses the credentials, `unavailable` with `platform_unavailable` when it does not answer.
 */
export async function fetchConnection(
  connector: AuthorizationConnector,
  credentials: EnteredCredentials,
): Promise<Connection> {
  const result = await connector.connect(credentials, AbortSignal.timeout(CONNECT_TIMEOUT_MS));
  if (result.kind === "connected") return result.connection;
  const { kind, message: reason } = result;
  if (kind === "refused")
    throw invalidRequest([{ code: "login_refused", path: "/platform", reason }]);
  const violations = [{ code: "platform_unavailable", path: "/platform", reason }];
  throw new ServiceError("unavailable", "unavailable", violations, {
    retryAfterMs: RETRY_MS,
    cause: new Error(reason),
  });
}
