import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  FindConnectLinkRequest,
  FindConnectLinkResponseSchema,
  GetAuthorizationRequest,
  GetAuthorizationResponseSchema,
  IssueConnectLinkRequest,
  IssueConnectLinkResponseSchema,
  OpenConnectLinkRequest,
  OpenConnectLinkResponseSchema,
} from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { assertIds, isId, newId } from "@postrider/shared/ids";
import { findContext } from "@postrider/shared/telemetry/request-context";
import { listAccountsByKeys } from "#src/db/accounts.ts";
import {
  type AuthorizationRow,
  findAuthorizationById,
  insertAuthorization,
  openAuthorization,
  readConnectLink,
} from "#src/db/authorizations.ts";
import {
  codeChallengeOf,
  connectLinkOf,
  hashSecret,
  redirectUriOf,
} from "#src/domain/connect-links.ts";
import { placeOfCodeVerifier } from "#src/domain/sealed-places.ts";
import { toAuthorizationAudit } from "#src/operations/audit-records.ts";
import { getAuthorizationFlow } from "#src/operations/configured-platform.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { newSecret } from "#src/operations/new-secret.ts";
import { sealAt } from "#src/operations/token-sealing.ts";
import { toAccount } from "#src/rpc/to-account.ts";

/**
 * A path below /app. Any other address, also one of another host (`//host`), is refused, so that a
 * connect link never sends a browser elsewhere.
 */
const RETURN_TO = /^\/app(?:\/[\w/-]*)?(?:\?[\w=&-]*)?$/;

/** Only the answer contains the connect link; the database contains the hash of its secret. */
export async function issueConnectLink(
  deps: Dependencies,
  { workspaceId, platform, returnTo }: IssueConnectLinkRequest,
): Promise<MessageInitShape<typeof IssueConnectLinkResponseSchema>> {
  getAuthorizationFlow(deps, platform);
  assertIds(workspaceId);
  if (returnTo !== undefined && !RETURN_TO.test(returnTo))
    throw invalidRequest([{ code: "pattern", path: "/returnTo" }]);
  const id = newId();
  const secret = newSecret();
  const linkHash = hashSecret(secret);
  const expiresAt = await deps.sql.begin(async (tx) => {
    const authorization = { id, workspaceId, platform };
    const inserted = await insertAuthorization(
      tx,
      { ...authorization, linkHash, returnTo },
      findContext()?.origin ?? {},
    );
    if (inserted === undefined) throw notFound();
    await appendAudit(tx, [toAuthorizationAudit("authorization.issue", authorization)]);
    return inserted;
  });
  const url = connectLinkOf(deps.publicUrl, secret);
  return { id, url, expiresAt: timestampFromDate(expiresAt) };
}

/**
 * Converts an authorization to the progress that the RPC returns. An authorization that expired
 * before it ended is reported as failed, whatever status is stored.
 */
function toProgress({ status, failure, isExpired }: AuthorizationRow) {
  if (status === "connected") return { status };
  if (status === "failed") return { status, failure: failure ?? "refused" };
  return isExpired ? { status: "failed", failure: "expired" } : { status: "waiting" };
}

export async function getAuthorization(
  deps: Pick<Dependencies, "sql" | "features">,
  { id, workspaceId: owner }: GetAuthorizationRequest,
): Promise<MessageInitShape<typeof GetAuthorizationResponseSchema>> {
  const authorization = isId(id) ? await findAuthorizationById(deps.sql, id) : undefined;
  if (authorization === undefined) throw notFound();
  const { workspaceId, accountIds } = authorization;
  if (owner !== undefined && owner !== workspaceId) throw notFound();
  const keys = accountIds.map((accountId) => ({ workspaceId, accountId }));
  const rows = keys.length === 0 ? [] : await listAccountsByKeys(deps.sql, keys);
  return { ...toProgress(authorization), accounts: rows.map((row) => toAccount(row, deps)) };
}

/** Changes nothing, so that a program that previews links does not use the connect link up. */
export async function findConnectLink(
  deps: Dependencies,
  { linkSecret: secret }: FindConnectLinkRequest,
): Promise<MessageInitShape<typeof FindConnectLinkResponseSchema>> {
  const link = await readConnectLink(deps.sql, hashSecret(secret));
  if (link.kind !== "open") return { outcome: link.kind };
  const { platform, workspaceName } = link.authorization;
  const page = getAuthorizationFlow(deps, platform).authorizeUrl({
    redirectUri: redirectUriOf(deps.publicUrl),
    state: "",
    codeChallenge: "",
  });
  return { outcome: "open", platform, workspaceName, authorizeOrigin: new URL(page).origin };
}

/** Binds the authorization to the browser, to a new state and to a new code verifier. */
export async function openConnectLink(
  deps: Dependencies,
  { linkSecret: secret, browser }: OpenConnectLinkRequest,
): Promise<MessageInitShape<typeof OpenConnectLinkResponseSchema>> {
  const linkHash = hashSecret(secret);
  const link = await readConnectLink(deps.sql, linkHash);
  if (link.kind !== "open") return { outcome: link.kind };
  const { id, workspaceId, platform } = link.authorization;
  const flow = getAuthorizationFlow(deps, platform);
  const [state, codeVerifier] = [newSecret(), newSecret()];
  const [stateHash, browserHash] = [hashSecret(state), hashSecret(browser)];
  const place = placeOfCodeVerifier({ id, workspaceId, platform, stateHash, browserHash });
  const isOpened = await deps.sql.begin(async (tx) => {
    const sealed = sealAt(deps, place, codeVerifier);
    const binding = { stateHash, browserHash, codeVerifier: sealed };
    if (!(await openAuthorization(tx, linkHash, binding))) return false;
    await appendAudit(tx, [toAuthorizationAudit("authorization.open", link.authorization)]);
    return true;
  });
  if (!isOpened) return { outcome: "used" };
  const authorizeUrl = flow.authorizeUrl({
    redirectUri: redirectUriOf(deps.publicUrl),
    state,
    codeChallenge: codeChallengeOf(codeVerifier),
  });
  return { outcome: "opened", authorizeUrl };
}
