import type { ServiceImpl } from "@connectrpc/connect";
import type { AuthorizationService } from "@postrider/contracts/accounts/v1/authorization_service_pb";
import type { Deps } from "#src/operations/dependencies.ts";
import { finishAuthorization } from "#src/rpc/finish-authorization.ts";
import { findTicket, getTicket, issueTicket, openTicket } from "#src/rpc/tickets.ts";

/** The table of contents of AuthorizationService. */
export function createAuthorizationService(deps: Deps) {
  return {
    issueTicket: (request) => issueTicket(deps, request),
    getTicket: (request) => getTicket(deps, request),
    findTicket: (request) => findTicket(deps, request),
    openTicket: (request) => openTicket(deps, request),
    finishAuthorization: (request) => finishAuthorization(deps, request),
  } satisfies ServiceImpl<typeof AuthorizationService>;
}
