import type {
  Connection,
  Connector,
  LoginValues,
} from "@postrider/platforms/authorization/connector";
import { invalidRequest, unavailable } from "@postrider/shared/errors";

const LOGIN_TIMEOUT_MS = 15_000;

/**
 * Asks the platform who it is that logs in.
 *
 * @throws ServiceError `invalid_request` with `login_refused`, or `unavailable`.
 */
export async function logIn(connector: Connector, login: LoginValues): Promise<Connection> {
  const result = await connector.connect(login, AbortSignal.timeout(LOGIN_TIMEOUT_MS));
  if (result.kind === "connected") return result.connection;
  if (result.kind === "refused")
    throw invalidRequest([{ code: "login_refused", path: "/platform" }]);
  throw unavailable(new Error(result.message));
}
