import { xrpcError } from "#src/bluesky/errors.ts";
import { type BlueskyNetwork, findActor } from "#src/bluesky/network.ts";
import type { Call } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";

/**
 * URL path below which the simulator serves a second Bluesky server (PDS), which represents all
 * servers besides the first.
 */
const OTHER_PDS = "/other-pds";
/** Accounts whose handle is below this domain are stored on the second Bluesky server. */
const OTHER_DOMAIN = ".pds.example";

function pathOf({ username }: Account): string {
  return username.endsWith(OTHER_DOMAIN) ? OTHER_PDS : "";
}

export function didDocument(account: Account, call: Call): unknown {
  const { externalId, username } = account;
  const serviceEndpoint = `${call.baseUrl}${pathOf(account)}`;
  return {
    "@context": ["https://www.w3.org/ns/did/v1"],
    id: externalId,
    alsoKnownAs: [`at://${username}`],
    service: [{ id: "#atproto_pds", type: "AtprotoPersonalDataServer", serviceEndpoint }],
  };
}

/** Each server refuses calls that change something for an account which the other server stores. */
export function atBothServers(
  routes: readonly Route[],
  accountOf: (call: Call) => Account | undefined,
): readonly Route[] {
  return ["", OTHER_PDS].flatMap((path) =>
    routes.map((route): Route => ({
      ...route,
      path: `${path}${route.path}`,
      handle: (call, moment) => {
        const account = route.method === "GET" ? undefined : accountOf(call);
        return account === undefined || pathOf(account) === path
          ? route.handle(call, moment)
          : xrpcError(401, "AuthenticationRequired", "Invalid identifier or password");
      },
    })),
  );
}

export function directoryRoute(network: BlueskyNetwork): Route {
  return {
    method: "GET",
    path: "/plc/:did",
    operations: () => ["account"],
    handle: (call) => {
      const account = findActor(network, call.params["did"] ?? "");
      return account === undefined
        ? { status: 404, body: { message: "DID not registered" } }
        : { status: 200, body: didDocument(account, call) };
    },
  };
}
