import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  FindConnectLinkRequest,
  FindConnectLinkResponseSchema,
} from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { readConnectLink } from "#src/db/authorizations.ts";
import { hashSecret, redirectUriOf } from "#src/domain/connect-links.ts";
import { getAuthorizationFlow } from "#src/operations/configured-platform.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

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
