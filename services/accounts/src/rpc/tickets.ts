import { randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  FindTicketRequest,
  FindTicketResponseSchema,
  GetTicketRequest,
  GetTicketResponseSchema,
  IssueTicketRequest,
  IssueTicketResponseSchema,
  OpenTicketRequest,
  OpenTicketResponseSchema,
} from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId, newId } from "@postrider/shared/ids";
import { seal } from "@postrider/shared/secrets/sealing";
import { listAccountsByKeys } from "#src/db/accounts.ts";
import {
  findTicketByHash,
  findTicketById,
  insertTicket,
  openTicket as spendTicket,
  type TicketRow,
} from "#src/db/oauth-tickets.ts";
import { codeChallengeOf, hashSecret, SECRET_BYTES } from "#src/domain/ticket-secrets.ts";
import { getAuthorization } from "#src/rpc/configured-platform.ts";
import type { Deps } from "#src/rpc/deps.ts";
import { placeOfVerifier, redirectUriOf } from "#src/rpc/finish-authorization.ts";
import { toAccount } from "#src/rpc/to-account.ts";

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

export async function issueTicket(
  deps: Deps,
  { workspaceId, platform }: IssueTicketRequest,
): Promise<MessageInitShape<typeof IssueTicketResponseSchema>> {
  getAuthorization(deps, platform);
  if (!isId(workspaceId)) throw notFound();
  const id = newId();
  const secret = newSecret();
  const hash = hashSecret(secret);
  const expiresAt = await insertTicket(deps.sql, { id, workspaceId, platform, hash });
  if (expiresAt === undefined) throw notFound();
  return {
    id,
    url: `${deps.publicUrl}/connect/${secret}`,
    expiresAt: timestampFromDate(expiresAt),
  };
}

/** An authorization that nobody finished in time has failed, whatever it was doing. */
function toProgress({ status, failure, isOver }: TicketRow) {
  if (status === "connected") return { status };
  if (status === "failed") return { status, failure: failure ?? "refused" };
  return isOver ? { status: "failed", failure: "expired" } : { status: "waiting" };
}

export async function getTicket(
  { sql }: Pick<Deps, "sql">,
  { id }: GetTicketRequest,
): Promise<MessageInitShape<typeof GetTicketResponseSchema>> {
  const ticket = isId(id) ? await findTicketById(sql, id) : undefined;
  if (ticket === undefined) throw notFound();
  const { workspaceId, accountIds } = ticket;
  const keys = accountIds.map((accountId) => ({ workspaceId, accountId }));
  const rows = keys.length === 0 ? [] : await listAccountsByKeys(sql, keys);
  return { ...toProgress(ticket), accounts: rows.map(toAccount) };
}

/** Why a link cannot be opened; undefined when it can. */
function closedBecause(ticket: TicketRow | undefined): "unknown" | "used" | "expired" | undefined {
  if (ticket === undefined) return "unknown";
  if (ticket.status !== "issued") return "used";
  return ticket.isOver ? "expired" : undefined;
}

export async function findTicket(
  deps: Deps,
  request: FindTicketRequest,
): Promise<MessageInitShape<typeof FindTicketResponseSchema>> {
  const ticket = await findTicketByHash(deps.sql, hashSecret(request.ticket));
  const closed = closedBecause(ticket);
  if (ticket === undefined || closed !== undefined) return { outcome: closed ?? "unknown" };
  const { platform, workspaceName } = ticket;
  const page = getAuthorization(deps, platform).authorizeUrl({
    redirectUri: redirectUriOf(deps),
    state: "",
    codeChallenge: "",
  });
  return { outcome: "open", platform, workspaceName, authorizeOrigin: new URL(page).origin };
}

export async function openTicket(
  deps: Deps,
  { ticket: secret, browser }: OpenTicketRequest,
): Promise<MessageInitShape<typeof OpenTicketResponseSchema>> {
  const hash = hashSecret(secret);
  const ticket = await findTicketByHash(deps.sql, hash);
  const closed = closedBecause(ticket);
  if (ticket === undefined || closed !== undefined) return { outcome: closed ?? "unknown" };
  const authorization = getAuthorization(deps, ticket.platform);
  const [state, verifier] = [newSecret(), newSecret()];
  const codeVerifier = seal(
    deps.credentialKeys,
    placeOfVerifier(ticket.id),
    verifier,
    randomBytes(12),
  );
  const isMine = await spendTicket(deps.sql, {
    hash,
    stateHash: hashSecret(state),
    browserHash: hashSecret(browser),
    codeVerifier,
  });
  if (!isMine) return { outcome: "used" };
  const redirectUri = redirectUriOf(deps);
  const codeChallenge = codeChallengeOf(verifier);
  const authorizeUrl = authorization.authorizeUrl({ redirectUri, state, codeChallenge });
  return { outcome: "opened", authorizeUrl };
}
