import type { ServiceImpl } from "@connectrpc/connect";
import type { AuthorizationService } from "@postrider/contracts/accounts/v1/authorization_service_pb";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { findTicket } from "#src/rpc/find-ticket.ts";
import { finishAuthorization } from "#src/rpc/finish-authorization.ts";
import { getTicket } from "#src/rpc/get-ticket.ts";
import { issueTicket } from "#src/rpc/issue-ticket.ts";
import { openTicket } from "#src/rpc/open-ticket.ts";

/**
 * The RPCs of AuthorizationService. A "ticket" in the RPC contract is an authorization, which is identified by its
 * connect link.
 */
export function createAuthorizationService(deps: Dependencies) {
  return {
    issueTicket: (request) => issueTicket(deps, request),
    getTicket: (request) => getTicket(deps, request),
    findTicket: (request) => findTicket(deps, request),
    openTicket: (request) => openTicket(deps, request),
    finishAuthorization: (request) => finishAuthorization(deps, request),
  } satisfies ServiceImpl<typeof AuthorizationService>;
}
