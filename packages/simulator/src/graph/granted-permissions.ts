import { toGraphRoute } from "#src/graph/endpoint.ts";
import type { GraphCall } from "#src/graph/endpoint.ts";
import { refuseGraph } from "#src/graph/errors.ts";
import type { GraphHost } from "#src/graph/host.ts";
import type { Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";

function list({ token, parameters }: GraphCall): Reply {
  parameters.checkNames([]);
  if (token.kind !== "user") {
    return refuseGraph({ code: 100, message: "Only a user has permissions." });
  }
  const { scopes, declined = [] } = token;
  const data = [
    ...scopes.map((permission) => ({ permission, status: "granted" })),
    ...declined.map((permission) => ({ permission, status: "declined" })),
  ];
  return { status: 200, body: { data } };
}

/** `GET /me/permissions`: the permissions that a user granted to the app, and those that the user declined. */
export function grantedPermissionsRoute(host: GraphHost): Route {
  return toGraphRoute(host, {
    method: "GET",
    path: "/me/permissions",
    operations: () => ["account"],
    handle: list,
  });
}
