import type { GraphEndpoint } from "#src/graph/endpoint.ts";
import type { GraphHost } from "#src/graph/host.ts";

const APP_REMOVED = 458;

export function revokeGrant({ tokens }: GraphHost): GraphEndpoint {
  return {
    method: "DELETE",
    path: "/:id/permissions",
    operations: () => ["revoke"],
    handle: ({ token, parameters }) => {
      parameters.checkNames(["permission"]);
      tokens.revokeAll(token.user, APP_REMOVED);
      return { status: 200, body: { success: true } };
    },
  };
}
