import type { ConfiguredPlatform } from "./configure.ts";
import type {
  AuthorizationConnector,
  Connection,
  ConnectResult,
  ExchangeResult,
  RefreshResult,
  Refused,
  Tokens,
} from "./connector.ts";

/**
 * Longest texts in UTF-16 units that are stored of an account. No platform has longer ones; the
 * server of an account that its owner runs may answer with anything. The tables of the accounts
 * service check the same lengths.
 */
const MAX_ID = 512;
const MAX_NAME = 256;
const MAX_URL = 2048;
const MAX_TOKEN = 16_384;
const MAX_ATTRIBUTE = 2048;

/** No platform issues tokens for longer, and the database cannot store every end of a lifetime. */
const MAX_LIFETIME_MS = 10 * 365 * 86_400_000;

const TOO_LONG: Refused = {
  kind: "refused",
  message: "the platform answered with a longer name, id or token than any account has",
};

function isTooLong({ accessToken, refreshToken = "" }: Tokens): boolean {
  return accessToken.length > MAX_TOKEN || refreshToken.length > MAX_TOKEN;
}

function shortenLifetimes({ lifetimeMs, refreshLifetimeMs, ...tokens }: Tokens): Tokens {
  return {
    ...tokens,
    ...(lifetimeMs === undefined ? {} : { lifetimeMs: Math.min(lifetimeMs, MAX_LIFETIME_MS) }),
    ...(refreshLifetimeMs === undefined
      ? {}
      : { refreshLifetimeMs: Math.min(refreshLifetimeMs, MAX_LIFETIME_MS) }),
  };
}

/** Cuts or leaves out what is only shown; undefined if a text is too long that must be whole. */
function limitConnection(connection: Connection): Connection | undefined {
  const { externalId, username, displayName, avatarUrl, tokens, attributes, traits } = connection;
  const others = [...Object.values(attributes), ...Object.values(traits ?? {})];
  const isRefused =
    externalId.length > MAX_ID ||
    username.length > MAX_NAME ||
    isTooLong(tokens) ||
    others.some(({ length }) => length > MAX_ATTRIBUTE);
  if (isRefused) return undefined;
  return {
    ...connection,
    displayName: displayName.slice(0, MAX_NAME).toWellFormed(),
    avatarUrl: (avatarUrl?.length ?? 0) > MAX_URL ? undefined : avatarUrl,
    tokens: shortenLifetimes(tokens),
  };
}

function limitConnect(result: ConnectResult): ConnectResult {
  if (result.kind !== "connected") return result;
  const connection = limitConnection(result.connection);
  return connection === undefined ? TOO_LONG : { kind: "connected", connection };
}

function limitExchange(result: ExchangeResult): ExchangeResult {
  if (result.kind !== "granted") return result;
  const limited = result.connections.map(limitConnection);
  const connections = limited.filter((each) => each !== undefined);
  return connections.length < limited.length ? TOO_LONG : { kind: "granted", connections };
}

/** Unreadable tokens do not show that the account needs a reconnect. */
function limitRefresh(result: RefreshResult): RefreshResult {
  if (result.kind !== "renewed") return result;
  return isTooLong(result.tokens)
    ? { kind: "unavailable", message: TOO_LONG.message }
    : { kind: "renewed", tokens: shortenLifetimes(result.tokens) };
}

function limitConnector(connector: AuthorizationConnector): AuthorizationConnector {
  const { connect, refresh, codeFlow } = connector;
  return {
    ...connector,
    connect: async (...asked) => limitConnect(await connect(...asked)),
    ...(refresh && { refresh: async (...asked) => limitRefresh(await refresh(...asked)) }),
    ...(codeFlow && {
      codeFlow: {
        ...codeFlow,
        exchange: async (...asked) => limitExchange(await codeFlow.exchange(...asked)),
      },
    }),
  };
}

/**
 * Limits what the connector of any platform returns, so that one account can neither fill the
 * database nor make answers too large in which it is together with others.
 */
export function limitTexts(configured: ConfiguredPlatform): ConfiguredPlatform {
  return { ...configured, connector: limitConnector(configured.connector) };
}
