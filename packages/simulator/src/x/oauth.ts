import { type Call, formOf, type Moment, type Reply } from "#src/http/call.ts";
import { redeemForm } from "#src/oauth/redeem-form.ts";
import type { Route } from "#src/platform.ts";
import { oauthError } from "#src/x/errors.ts";
import type { XNetwork } from "#src/x/network.ts";
import type { TokenPair } from "#src/x/tokens.ts";

const INVALID_TOKEN = oauthError(400, "invalid_request", "Value passed for the token was invalid.");

const INVALID_CODE = oauthError(
  400,
  "invalid_request",
  "Value passed for the authorization code was invalid.",
);

/**
 * From the Basic header for a confidential app, from the form for a public one. Every client id is
 * accepted.
 */
function clientOf(call: Call, form: URLSearchParams): string {
  const [scheme, credentials] = (call.headers.authorization ?? "").split(" ", 2);
  const name =
    Buffer.from(credentials ?? "", "base64")
      .toString("utf8")
      .split(":", 1)[0] ?? "";
  return scheme?.toLowerCase() === "basic" ? name : (form.get("client_id") ?? "");
}

function missingClient(): Reply {
  return oauthError(401, "unauthorized_client", "Missing valid authorization header");
}

function token(network: XNetwork, call: Call, { now }: Moment): Reply {
  const form = formOf(call);
  const clientId = clientOf(call, form);
  if (clientId === "") return missingClient();

  switch (grantOf(call)) {
    case "refresh_token":
      return pairReply(network.tokens.refresh(form.get("refresh_token") ?? "", now), INVALID_TOKEN);
    case "authorization_code":
      return pairReply(redeem(network, form, clientId, now), INVALID_CODE);
    default:
      return oauthError(400, "unsupported_grant_type", "The grant type is not supported.");
  }
}

function redeem(
  { codes, tokens }: XNetwork,
  form: URLSearchParams,
  clientId: string,
  now: number,
): TokenPair | undefined {
  const approval = redeemForm(codes, form, clientId, now);
  return approval && tokens.issue(approval, now);
}

function pairReply(pair: TokenPair | undefined, refusal: Reply): Reply {
  if (pair === undefined) return refusal;

  const body = {
    token_type: "bearer",
    expires_in: pair.expiresInSeconds,
    access_token: pair.accessToken,
    scope: pair.scopes.join(" "),
    refresh_token: pair.refreshToken,
  };
  return { status: 200, body };
}

function revoke(network: XNetwork, call: Call): Reply {
  const form = formOf(call);
  if (clientOf(call, form) === "") return missingClient();

  const value = form.get("token") ?? "";
  if (value === "")
    return oauthError(400, "invalid_request", "Missing required parameter [token].");

  network.tokens.revoke(value);
  return { status: 200, body: { revoked: true } };
}

function grantOf(call: Call): string {
  return formOf(call).get("grant_type") ?? "";
}

export function oauthRoutes(network: XNetwork): Route[] {
  return [
    {
      method: "POST",
      path: "/2/oauth2/token",
      operations: (call) => [grantOf(call) === "authorization_code" ? "login" : "refresh"],
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
