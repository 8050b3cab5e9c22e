import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  FinishAuthorizationRequest,
  FinishAuthorizationResponseSchema,
} from "@postrider/contracts/accounts/v1/authorization_service_pb";
import type { ExchangeResult } from "@postrider/platforms/authorization/connector";
import { appendAudit } from "@postrider/shared/audit/append";
import { ServiceError, unprocessable } from "@postrider/shared/errors";
import type { AccountRow } from "#src/db/accounts.ts";
import {
  claimAuthorization,
  findAuthorizationByState,
  isBrowserOfAuthorization,
  setAuthorizationConnected,
  setAuthorizationFailed,
  type ClaimedAuthorization,
} from "#src/db/authorizations.ts";
import { hashSecret, redirectUriOf } from "#src/domain/connect-links.ts";
import { placeOfCodeVerifier, type VerifierOwner } from "#src/domain/sealed-places.ts";
import { connectLinkActor, toAuthorizationAudit } from "#src/operations/audit-records.ts";
import { getAuthorizationFlow } from "#src/operations/configured-platform.ts";
import { storeConnections } from "#src/operations/connections.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { unsealForUse } from "#src/operations/token-sealing.ts";
import { toAccount } from "#src/rpc/to-account.ts";

/** Time limit for all platform calls of one code exchange; some platforms need three calls. */
const EXCHANGE_TIMEOUT_MS = 25_000;

/**
 * OAuth error codes (RFC 6749) for a fault of the platform. Other codes mean that the person denied
 * access or that the request was wrong.
 */
const PLATFORM_ERRORS = new Set(["server_error", "temporarily_unavailable"]);

/**
 * Pattern of the OAuth error codes that are logged. A text that does not match it can contain
 * anything that the browser sent, so it is not logged.
 */
const OAUTH_ERROR = /^[a-z_]{1,40}$/;

type Failure = "denied" | "refused" | "permission_missing" | "no_account" | "unavailable";
type Ending =
  | { readonly kind: "connected"; readonly accounts: readonly AccountRow[] }
  | { readonly kind: Failure; readonly missingScopes?: readonly string[] };

/** A claimed authorization, with the hashes of what its browser sent. */
type AuthorizationOfBrowser = ClaimedAuthorization & VerifierOwner;

/**
 * Returns the reason why a browser cannot finish an authorization with the OAuth `state` that it
 * sent. A browser that did not open the connect link learns nothing else about the authorization.
 */
async function refusalOf(
  { sql }: Pick<Dependencies, "sql">,
  stateHash: Uint8Array,
  browserHash: Uint8Array,
): Promise<{ readonly outcome: string; readonly platform?: string }> {
  const authorization = await findAuthorizationByState(sql, stateHash);
  if (authorization === undefined) return { outcome: "unknown_state" };
  if (!(await isBrowserOfAuthorization(sql, stateHash, browserHash)))
    return { outcome: "other_browser" };
  const { status, isExpired, platform } = authorization;
  return { outcome: status === "opened" && isExpired ? "expired" : "used", platform };
}

async function exchange(
  deps: Dependencies,
  authorization: AuthorizationOfBrowser,
  code: string,
): Promise<ExchangeResult> {
  const { codeVerifier, platform } = authorization;
  const place = placeOfCodeVerifier(authorization);
  const grant = {
    code,
    redirectUri: redirectUriOf(deps.publicUrl),
    codeVerifier: unsealForUse(deps, place, codeVerifier),
  };
  const flow = getAuthorizationFlow(deps, platform);
  return await flow.exchange(grant, AbortSignal.timeout(EXCHANGE_TIMEOUT_MS));
}

/** Returns the reason with which the authorization ends. */
function reportRefusal(
  { logger }: Pick<Dependencies, "logger">,
  platform: string,
  result: Exclude<ExchangeResult, { readonly kind: "granted" }>,
): Ending {
  if (result.kind === "permission_missing") {
    const { kind, missing } = result;
    logger.warn(
      { platform, permissions: missing },
      "a person did not grant the permissions that publishing needs, so no account was connected",
    );
    return { kind, missingScopes: missing };
  }
  const { kind, message } = result;
  logger.warn(
    { platform, reason: message },
    "the platform did not exchange an authorization code for tokens; the person must connect the account again",
  );
  return { kind };
}

async function finish(
  deps: Dependencies,
  authorization: AuthorizationOfBrowser,
  { code, error }: FinishAuthorizationRequest,
): Promise<Ending> {
  const { id, workspaceId, platform } = authorization;
  if (PLATFORM_ERRORS.has(error)) return { kind: "unavailable" };
  if (error !== "" || code === "") {
    deps.logger.warn(
      { platform, reason: OAUTH_ERROR.test(error) ? error : "other" },
      "the platform sent the browser back without an authorization code, so no account was connected",
    );
    return { kind: "denied" };
  }
  const result = await exchange(deps, authorization, code);
  if (result.kind !== "granted") return reportRefusal(deps, platform, result);
  const { connections } = result;
  if (connections.length === 0) return { kind: "no_account" };
  const accounts = await storeConnections(
    deps,
    { workspaceId, platform, connections },
    {
      actor: connectLinkActor(authorization),
      alsoStore: async (tx, accountIds) => {
        if (!(await setAuthorizationConnected(tx, id, accountIds)))
          throw unprocessable("validation_failed", [{ code: "connect_link_ended" }]);
        const finished = toAuthorizationAudit("authorization.finish", authorization, "connected");
        await appendAudit(tx, [finished]);
      },
    },
  );
  return { kind: "connected", accounts };
}

async function fail(
  { sql }: Pick<Dependencies, "sql">,
  authorization: ClaimedAuthorization,
  failure: Failure,
): Promise<void> {
  await sql.begin(async (tx) => {
    await setAuthorizationFailed(tx, authorization.id, failure);
    await appendAudit(tx, [toAuthorizationAudit("authorization.finish", authorization, failure)]);
  });
}

/**
 * Asks the platform what it offers new accounts, so that already their first posts are validated by
 * it. The answers are stored; without one the accounts are connected as well.
 */
async function askWhatIsOffered(
  { readAvailable }: Pick<Dependencies, "readAvailable">,
  accounts: readonly AccountRow[],
): Promise<readonly AccountRow[]> {
  return await Promise.all(
    accounts.map(async (row) => {
      const { id: accountId, workspaceId, platform } = row;
      return { ...row, available: await readAvailable({ workspaceId, accountId }, platform) };
    }),
  );
}

/**
 * Exchanges the authorization code for tokens and stores the connected accounts. The authorization
 * is claimed first, so that its code is used only once, even when the browser comes back twice at
 * the same time.
 */
export async function finishAuthorization(
  deps: Dependencies,
  request: FinishAuthorizationRequest,
): Promise<MessageInitShape<typeof FinishAuthorizationResponseSchema>> {
  const stateHash = hashSecret(request.state);
  const browserHash = hashSecret(request.browser);
  const authorization = await claimAuthorization(deps.sql, stateHash, browserHash);
  if (authorization === undefined) return await refusalOf(deps, stateHash, browserHash);
  const { platform, returnTo } = authorization;
  const back = returnTo === null ? {} : { returnTo };
  const ofBrowser = { ...authorization, stateHash, browserHash };
  const ending = await finish(deps, ofBrowser, request).catch((error: unknown): Ending => {
    if (error instanceof ServiceError && error.kind === "unprocessable") {
      const faults = error.violations.map(({ code }) => code);
      deps.logger.warn({ platform, faults }, "accounts of an authorization were not stored");
      return { kind: "refused" };
    }
    deps.logger.error(
      { err: error, platform },
      "an authorization failed with an internal error; the person must connect the account again",
    );
    return { kind: "unavailable" };
  });
  if (ending.kind !== "connected") {
    await fail(deps, authorization, ending.kind);
    const missingScopes = [...(ending.missingScopes ?? [])];
    return { outcome: ending.kind, platform, missingScopes, ...back };
  }
  const accounts = await askWhatIsOffered(deps, ending.accounts);
  return {
    outcome: "connected",
    platform,
    accounts: accounts.map((row) => toAccount(row, deps)),
    ...back,
  };
}
