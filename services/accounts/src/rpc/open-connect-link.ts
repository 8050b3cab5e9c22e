import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  OpenConnectLinkRequest,
  OpenConnectLinkResponseSchema,
} from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { openAuthorization, readConnectLink } from "#src/db/authorizations.ts";
import { codeChallengeOf, hashSecret, redirectUriOf } from "#src/domain/connect-links.ts";
import { placeOfCodeVerifier } from "#src/domain/sealed-places.ts";
import { toAuthorizationAudit } from "#src/operations/audit-records.ts";
import { getAuthorizationFlow } from "#src/operations/configured-platform.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { newSecret } from "#src/operations/new-secret.ts";
import { sealAt } from "#src/operations/token-sealing.ts";

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
