import type { Call, Moment, Reply } from "#src/http/call.ts";
import type { Route } from "#src/platform.ts";
import { oauthError } from "#src/x/errors.ts";
import type { XNetwork } from "#src/x/network.ts";
import { SCOPE } from "#src/x/tokens.ts";

const INVALID_TOKEN = oauthError(400, "invalid_request", "Value passed for the token was invalid.");

export function formOf(call: Call): URLSearchParams {
  return new URLSearchParams(call.body.toString("utf8"));
}

/** A confidential app signs in with Basic, a public one names itself in the form; the simulator knows every app. */
function namesClient(call: Call, form: URLSearchParams): boolean {
  const [scheme, credentials] = (call.headers.authorization ?? "").split(" ", 2);
  const name =
    Buffer.from(credentials ?? "", "base64")
      .toString("utf8")
      .split(":", 1)[0] ?? "";
  return (scheme?.toLowerCase() === "basic" && name !== "") || (form.get("client_id") ?? "") !== "";
}

function missingClient(): Reply {
  return oauthError(401, "unauthorized_client", "Missing valid authorization header");
}

function token(network: XNetwork, call: Call, { now }: Moment): Reply {
  const form = formOf(call);
  if (!namesClient(call, form)) {
    return missingClient();
  }
  if (form.get("grant_type") !== "refresh_token") {
    return oauthError(400, "unsupported_grant_type", "Only refresh_token is simulated.");
  }
  const pair = network.tokens.refresh(form.get("refresh_token") ?? "", now);
  if (pair === undefined) {
    return INVALID_TOKEN;
  }
  const body = {
    token_type: "bearer",
    expires_in: pair.expiresInSeconds,
    access_token: pair.accessToken,
    scope: SCOPE,
    refresh_token: pair.refreshToken,
  };
  return { status: 200, body };
}

function revoke(network: XNetwork, call: Call): Reply {
  const form = formOf(call);
  if (!namesClient(call, form)) {
    return missingClient();
  }
  const value = form.get("token") ?? "";
  if (value === "") {
    return oauthError(400, "invalid_request", "Missing required parameter [token].");
  }
  network.tokens.revoke(value);
  return { status: 200, body: { revoked: true } };
}

/** The token endpoints. */
export function oauthRoutes(network: XNetwork): Route[] {
  return [
    {
      method: "POST",
      path: "/2/oauth2/token",
      operations: () => ["refresh"],
      handle: (call, moment) => token(network, call, moment),
    },
    {
      method: "POST",
      path: "/2/oauth2/revoke",
      operations: () => ["revoke"],
      handle: (call) => revoke(network, call),
    },
  ];
}
