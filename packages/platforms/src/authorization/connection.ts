import type {
  ConnectResult,
  Connection,
  ExchangeResult,
  Refused,
  Unavailable,
} from "./connector.ts";

/** What a platform's answer says about the owner of a token; undefined where it says nothing. */
export interface Profile {
  readonly externalId: string | undefined;
  readonly username: string | undefined;
  /** The username is shown where there is none. */
  readonly displayName: string | undefined;
  readonly avatarUrl?: string | undefined;
}

/**
 * The connection of the profile's account.
 *
 * @param otherwise The result when the profile lacks the id or the username.
 */
export function toConnectResult(
  { externalId, username, displayName, avatarUrl }: Profile,
  { tokens, attributes = {} }: Pick<Connection, "tokens"> & Partial<Pick<Connection, "attributes">>,
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
  };
  return { kind: "connected", connection };
}

/** The result of a code exchange that grants one account. */
export function toExchangeResult(result: ConnectResult): ExchangeResult {
  return result.kind === "connected"
    ? { kind: "granted", connections: [result.connection] }
    : result;
}
