import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  FinishAuthorizationRequest,
  FinishAuthorizationResponseSchema,
} from "@postrider/contracts/accounts/v1/authorization_service_pb";
import type { ExchangeResult } from "@postrider/platforms/authorization/connector";
import { unseal, type SealedPlace } from "@postrider/shared/secrets/sealing";
import type { AccountRow } from "#src/db/accounts.ts";
import {
  claimTicket,
  findTicketByState,
  isTicketBrowser,
  setTicketConnected,
  setTicketFailed,
  type ClaimedTicket,
} from "#src/db/oauth-tickets.ts";
import { hashSecret } from "#src/domain/ticket-secrets.ts";
import { getAuthorization } from "#src/rpc/configured-platform.ts";
import type { Deps } from "#src/rpc/deps.ts";
import { storeConnections } from "#src/rpc/store-connections.ts";
import { toAccount } from "#src/rpc/to-account.ts";

/** All calls of an exchange together; several platforms need three. */
const EXCHANGE_TIMEOUT_MS = 25_000;

/** Errors of RFC 6749 that are about the platform and not about the person's decision. */
const PLATFORM_TROUBLE = new Set(["server_error", "temporarily_unavailable"]);

type Failure = "denied" | "refused" | "no_account" | "unavailable";
type Ending = Failure | { readonly accounts: readonly AccountRow[] };

/** Where platforms send browsers back to; it has to be registered with each app exactly so. */
export function redirectUriOf({ publicUrl }: Pick<Deps, "publicUrl">): string {
  return `${publicUrl}/connect/callback`;
}

export function placeOfVerifier(ticketId: string): SealedPlace {
  return { table: "oauth_tickets", rowId: ticketId, column: "code_verifier" };
}

/** Why nobody may finish with that state and browser. A browser that is not the right one learns nothing else. */
async function refusalOf(
  { sql }: Pick<Deps, "sql">,
  stateHash: Uint8Array,
  browserHash: Uint8Array,
): Promise<{ readonly outcome: string; readonly platform?: string }> {
  const ticket = await findTicketByState(sql, stateHash);
  if (ticket === undefined) return { outcome: "unknown_state" };
  if (!(await isTicketBrowser(sql, stateHash, browserHash))) return { outcome: "other_browser" };
  const isExpired = ticket.status === "opened" && ticket.isOver;
  return { outcome: isExpired ? "expired" : "used", platform: ticket.platform };
}

async function exchange(deps: Deps, ticket: ClaimedTicket, code: string): Promise<ExchangeResult> {
  const { id, platform, codeVerifier } = ticket;
  const grant = {
    code,
    redirectUri: redirectUriOf(deps),
    codeVerifier: unseal(deps.credentialKeys, placeOfVerifier(id), codeVerifier),
  };
  const authorization = getAuthorization(deps, platform);
  return await authorization.exchange(grant, AbortSignal.timeout(EXCHANGE_TIMEOUT_MS));
}

async function finish(
  deps: Deps,
  ticket: ClaimedTicket,
  { code, error }: FinishAuthorizationRequest,
): Promise<Ending> {
  if (PLATFORM_TROUBLE.has(error)) return "unavailable";
  if (error !== "" || code === "") return "denied";
  const { id, workspaceId, platform } = ticket;
  const result = await exchange(deps, ticket, code);
  if (result.kind !== "granted") {
    const { message } = result;
    deps.logger.warn({ platform, reason: message }, "a code was not exchanged");
    return result.kind;
  }
  if (result.connections.length === 0) return "no_account";
  const accounts = await storeConnections(
    deps,
    workspaceId,
    platform,
    result.connections,
    (tx, accountIds) => setTicketConnected(tx, id, accountIds),
  );
  return { accounts };
}

/** Every way in has one turn: a code that was shown twice, or by two at once, is exchanged once. */
export async function finishAuthorization(
  deps: Deps,
  request: FinishAuthorizationRequest,
): Promise<MessageInitShape<typeof FinishAuthorizationResponseSchema>> {
  const stateHash = hashSecret(request.state);
  const browserHash = hashSecret(request.browser);
  const ticket = await claimTicket(deps.sql, stateHash, browserHash);
  if (ticket === undefined) return await refusalOf(deps, stateHash, browserHash);
  const { id, platform } = ticket;
  const ending = await finish(deps, ticket, request).catch((error: unknown): Failure => {
    deps.logger.error({ err: error, platform }, "an authorization was not finished");
    return "unavailable";
  });
  if (typeof ending === "string") {
    await setTicketFailed(deps.sql, id, ending);
    return { outcome: ending, platform };
  }
  return { outcome: "connected", platform, accounts: ending.accounts.map(toAccount) };
}
