import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  FindTicketRequest,
  FindTicketResponseSchema,
} from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { hashSecret } from "#src/domain/authorization-secrets.ts";
import { redirectUriOf } from "#src/domain/connect-links.ts";
import { getAuthorizationFlow } from "#src/operations/configured-platform.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { findConnectLink } from "#src/operations/find-connect-link.ts";

/**
 * Finds the authorization of a connect link without changing it, so that a program that previews links does not use up
 * the connect link.
 */
export async function findTicket(
  deps: Dependencies,
  { ticket: secret }: FindTicketRequest,
): Promise<MessageInitShape<typeof FindTicketResponseSchema>> {
  const link = await findConnectLink(deps.sql, hashSecret(secret));
  if (link.kind !== "open") return { outcome: link.kind };
  const { platform, workspaceName } = link.authorization;
  const page = getAuthorizationFlow(deps, platform).authorizeUrl({
    redirectUri: redirectUriOf(deps.publicUrl),
    state: "",
    codeChallenge: "",
  });
  return { outcome: "open", platform, workspaceName, authorizeOrigin: new URL(page).origin };
}
