import { toGraphRoute } from "#src/graph/endpoint.ts";
import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { graphError } from "#src/graph/errors.ts";
import type { GraphHost } from "#src/graph/host.ts";
import { pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import type { Table } from "#src/store/table.ts";
import type { Account } from "#src/world/accounts.ts";

/** The external ids of the accounts that each user selected for the app in Facebook Login, by user id. */
export type Choices = Table<readonly string[]>;

/**
 * What the routes for lists of Pages use of Facebook Login: the host of the Graph API, and the function that returns a
 * Page as the API shows it.
 */
interface PageOwner {
  readonly host: GraphHost;
  readonly pageView: (account: Account, accessToken: string) => Readonly<Record<string, unknown>>;
}

/** The one Business portfolio that every simulated user has. */
const BUSINESS_ID = "900000000000001";

/**
 * The list that contains a Page of a user. A user manages a Page whose username begins with `portfolio` or `client`
 * through a Business portfolio; `/me/accounts` does not contain such a Page.
 */
function listOf({ username }: Account): "accounts" | "owned_pages" | "client_pages" {
  if (username.startsWith("portfolio")) {
    return "owned_pages";
  }
  return username.startsWith("client") ? "client_pages" : "accounts";
}

/** Returns one list of the Pages that a user selected, each Page with an access token that does not expire. */
function pagesIn(
  { host, pageView }: PageOwner,
  choices: Choices,
  list: ReturnType<typeof listOf>,
  { token, parameters, now }: GraphCall,
): Reply {
  if (token.kind !== "user") {
    return graphError({ code: 100, message: "A page token has no accounts." });
  }
  const chosen = choices.get(token.user) ?? [];
  const data = chosen.flatMap((externalId) => {
    const account = host.world.accounts.byId(host.platform, externalId);
    if (account === undefined || listOf(account) !== list) {
      return [];
    }
    const { user, scopes } = token;
    const page = { kind: "page", account: externalId, user, scopes } as const;
    const accessToken = host.tokens.issue({ ...page, issuedAt: now, expiresAt: null });
    const view = pageView(account, accessToken);
    return [pickFields(parameters, view, ["name", "access_token", "tasks"])];
  });
  return { status: 200, body: { data, paging: { cursors: { before: "b", after: "a" } } } };
}

/** The lists of a user's Pages: the user's own Pages, and those of the Business portfolio. */
export function pageListRoutes(owner: PageOwner, choices: Choices): readonly Route[] {
  const { host } = owner;
  const shared: Pick<GraphEndpoint, "method" | "operations"> = {
    method: "GET",
    operations: () => ["account"],
  };
  const ofBusiness = { ...shared, scope: "business_management" };
  const listIn = (list: ReturnType<typeof listOf>) => (call: GraphCall) =>
    pagesIn(owner, choices, list, call);
  return [
    toGraphRoute(host, {
      ...shared,
      path: "/me/accounts",
      scope: "pages_show_list",
      handle: listIn("accounts"),
    }),
    toGraphRoute(host, {
      ...ofBusiness,
      path: "/me/businesses",
      handle: () => ({ status: 200, body: { data: [{ id: BUSINESS_ID, name: "Portfolio" }] } }),
    }),
    ...(["owned_pages", "client_pages"] as const).map((list) =>
      toGraphRoute(host, {
        ...ofBusiness,
        path: `/${BUSINESS_ID}/${list}`,
        handle: listIn(list),
      }),
    ),
  ];
}
