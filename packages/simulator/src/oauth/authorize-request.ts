import type { Reply } from "#src/http/call.ts";

/** What a platform requires of the OAuth authorization requests that apps send to it. */
export interface AuthorizeRules {
  /** Name of the query parameter that contains the OAuth client id of the app. */
  readonly clientParameter: "client_id" | "client_key";
  readonly scopeSeparator: " " | ",";
  readonly scopes: readonly string[];
  /**
   * Whether authorization requests use PKCE. With `none`, a request with a code challenge is refused, because the
   * platform does not check code challenges.
   */
  readonly pkce: "required" | "optional" | "none";
}

export interface AuthorizeRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly scopes: readonly string[];
  readonly codeChallenge: string | null;
}

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const MIN_STATE_LENGTH = 16;

function pkceFault({ pkce }: AuthorizeRules, query: URLSearchParams): string | undefined {
  const challenge = query.get("code_challenge");
  if (challenge === null) {
    return pkce === "required" ? "code_challenge is missing" : undefined;
  }
  if (pkce === "none") {
    return "code_challenge is not supported; remove it";
  }
  return query.get("code_challenge_method") === "S256" && CHALLENGE.test(challenge)
    ? undefined
    : "code_challenge must be the base64url SHA-256 of the verifier, with code_challenge_method S256";
}

function scopeFault(rules: AuthorizeRules, scopes: readonly string[]): string | undefined {
  const unknown = scopes.find((scope) => !rules.scopes.includes(scope));
  return scopes.length === 0 ? "scope is missing" : unknown && `scope ${unknown} is unknown`;
}

/**
 * Reads an OAuth authorization request, or says why the request is invalid. An invalid request gets
 * an error page instead of a redirect, because its redirect URI is not trustworthy.
 */
export function readRequest(
  rules: AuthorizeRules,
  query: URLSearchParams,
): AuthorizeRequest | string {
  const text = (name: string): string => query.get(name) ?? "";
  const clientId = text(rules.clientParameter);
  const redirectUri = text("redirect_uri");
  const state = text("state");
  const scopes = text("scope")
    .split(rules.scopeSeparator)
    .filter((scope) => scope !== "");
  const fault = [
    text("response_type") === "code" ? undefined : "response_type must be code",
    clientId === "" ? `${rules.clientParameter} is missing` : undefined,
    /^https?:\/\//.test(redirectUri) && URL.parse(redirectUri) !== null
      ? undefined
      : "redirect_uri must be an http or https URL",
    state.length < MIN_STATE_LENGTH
      ? `state must have at least ${MIN_STATE_LENGTH} characters`
      : undefined,
    scopeFault(rules, scopes),
    pkceFault(rules, query),
  ].find((each) => each !== undefined);
  const codeChallenge = query.get("code_challenge");
  return fault ?? { clientId, redirectUri, state, scopes, codeChallenge };
}

/** Redirects the user's browser back to the app after an OAuth authorization request. */
export function redirect(
  { redirectUri, state }: AuthorizeRequest,
  answer: Readonly<Record<string, string>>,
): Reply {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries({ ...answer, state })) {
    url.searchParams.set(name, value);
  }
  return { status: 302, headers: { location: url.href }, body: "" };
}

export function denied(request: AuthorizeRequest): Reply {
  return redirect(request, {
    error: "access_denied",
    error_description: "The user denied the request.",
  });
}
