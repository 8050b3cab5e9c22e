import type {
  Connection,
  ConnectResult,
  ExchangeResult,
  Refused,
  Unavailable,
} from "./connector.ts";

export interface Profile {
  readonly externalId: string | undefined;
  readonly username: string | undefined;
  readonly displayName: string | undefined;
  readonly avatarUrl?: string | undefined;
}

/** `otherwise` = the result when the profile lacks the account's id or username. */
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
    avatarUrl,
    tokens,
    attributes,
    traits,
  };
  return { kind: "connected", connection };
}

export function toExchangeResult(result: ConnectResult): ExchangeResult {
  return result.kind === "connected"
    ? { kind: "granted", connections: [result.connection] }
    : result;
}
