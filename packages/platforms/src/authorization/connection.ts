import type {
  ConnectResult,
  Connection,
  ExchangeResult,
  Refused,
  Unavailable,
} from "./connector.ts";

/** What a platform's answer says about the owner of a token; a field that the answer lacks is undefined. */
export interface Profile {
  readonly externalId: string | undefined;
  readonly username: string | undefined;
  /** The owner's name for display; when undefined, the username is shown. */
  readonly displayName: string | undefined;
  readonly avatarUrl?: string | undefined;
}

/**
 * Returns the result of connecting the account that the profile describes.
 *
 * @param otherwise The result when the profile lacks the account's id or username.
 */
export function toConnectResult(
  { externalId, username, displayName, avatarUrl }: Profile,
  {
    tokens,
    attributes = {},
    traits,
  }: Pick<Connection, "tokens"> & Partial<Pick<Connection, "attributes" | "traits">>,
  otherwise: Refused | Unavailable,
): ConnectResult {
  if (externalId === undefined || username === undefined) return otherwise;
  const connection = {
    externalId,
    username,
    displayName: displayName ?? username,
    ...(avatarUrl === undefined ? {} : { avatarUrl }),
    tokens,
    attributes,
    ...(traits === undefined ? {} : { traits }),
  };
  return { kind: "connected", connection };
}

/**
 * Converts a `ConnectResult`, which is about one account, to an `ExchangeResult`, which lists all accounts that were
 * connected.
 */
export function toExchangeResult(result: ConnectResult): ExchangeResult {
  return result.kind === "connected"
    ? { kind: "granted", connections: [result.connection] }
    : result;
}
