import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  IssueDashboardLinkRequest,
  IssueDashboardLinkResponseSchema,
} from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { assertIds, newId } from "@postrider/shared/ids";
import { insertLink } from "#src/db/dashboard-sessions.ts";
import { hashSecret } from "#src/domain/connect-links.ts";
import { parseScopes } from "#src/domain/scopes.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { newSecret } from "#src/operations/new-secret.ts";

/** Only the answer contains the login link; the database contains the hash of its secret. */
export async function issueDashboardLink(
  { sql, publicUrl }: Pick<Dependencies, "sql" | "publicUrl">,
  request: IssueDashboardLinkRequest,
): Promise<MessageInitShape<typeof IssueDashboardLinkResponseSchema>> {
  const { workspaceId } = request;
  const scopes = parseScopes(request.scopes);
  if (scopes === undefined) throw invalidRequest([{ code: "unknown_scope", path: "/scopes" }]);
  assertIds(workspaceId);
  const id = newId();
  const secret = newSecret();
  const expiresAt = await sql.begin(async (tx) => {
    const expiry = await insertLink(tx, { id, hash: hashSecret(secret), workspaceId, scopes });
    if (expiry === undefined) throw notFound();
    const subject = { type: "dashboard_link", id } as const;
    await appendAudit(tx, [
      { action: "dashboard_link.issue", subject, workspaceId, details: { scopes } },
    ]);
    return expiry;
  });
  // Browsers do not send the fragment of an address, so that no log on the way contains the secret.
  return { url: `${publicUrl}/app/login#${secret}`, expiresAt: timestampFromDate(expiresAt) };
}
