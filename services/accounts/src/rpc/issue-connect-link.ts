import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  IssueConnectLinkRequest,
  IssueConnectLinkResponseSchema,
} from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { assertIds, newId } from "@postrider/shared/ids";
import { insertAuthorization } from "#src/db/authorizations.ts";
import { connectLinkOf, hashSecret } from "#src/domain/connect-links.ts";
import { toAuthorizationAudit } from "#src/operations/audit-records.ts";
import { getAuthorizationFlow } from "#src/operations/configured-platform.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { newSecret } from "#src/operations/new-secret.ts";

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
    const inserted = await insertAuthorization(tx, { ...authorization, linkHash, returnTo });
    if (inserted === undefined) throw notFound();
    await appendAudit(tx, [toAuthorizationAudit("authorization.issue", authorization)]);
    return inserted;
  });
  const url = connectLinkOf(deps.publicUrl, secret);
  return { id, url, expiresAt: timestampFromDate(expiresAt) };
}
