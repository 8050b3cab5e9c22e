import type { FacebookNetwork } from "#src/facebook/network.ts";
import type { GraphEndpoint } from "#src/graph/endpoint.ts";

/** What the app asks for: publishing, comments, numbers and private replies. */
export const SCOPES: readonly string[] = [
  "pages_show_list",
  "pages_read_engagement",
  "pages_manage_posts",
  "pages_manage_engagement",
  "pages_read_user_content",
  "read_insights",
  "pages_messaging",
  "pages_manage_metadata",
];

/** The app was removed. */
const REMOVED = 458;

/** `DELETE /{user}/permissions`: takes the whole grant of the person away, with every Page in it. */
export function revokeGrant(network: FacebookNetwork): GraphEndpoint {
  return {
    method: "DELETE",
    path: "/:id/permissions",
    operations: () => ["revoke"],
    handle: ({ token, parameters }) => {
      parameters.checkNames(["permission"]);
      network.tokens.end(token.user, REMOVED);
      return { status: 200, body: { success: true } };
    },
  };
}
