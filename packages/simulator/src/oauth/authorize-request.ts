import type { Reply } from "#src/http/call.ts";

/** What a platform wants to see when an app sends a person to it. */
export interface AuthorizeRules {
  /** Name of the parameter that names the app. */
  readonly clientParameter: "client_id" | "client_key";
  readonly scopeSeparator: " " | ",";
  readonly scopes: readonly string[];
  /** `none`: a challenge is a mistake, because nobody would check it. */
  readonly pkce: "required" | "optional" | "none";
}

/** What an app asks for. */
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
    return "code_challenge is not a parameter here";
  }
  return query.get("code_challenge_method") === "S256" && CHALLENGE.test(challenge)
    ? undefined
    : "code_challenge is no S256 challenge";
}

function scopeFault(rules: AuthorizeRules, scopes: readonly string[]): string | undefined {
  const unknown = scopes.find((scope) => !rules.scopes.includes(scope));
  return scopes.length === 0 ? "scope is missing" : unknown && `there is no scope ${unknown}`;
}

/** The request, or what is wrong with it; a wrong one never sends the person anywhere. */
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
    text("response_type") === "code" ? undefined : "response_type is not code",
    clientId === "" ? `${rules.clientParameter} is missing` : undefined,
    /^https?:\/\//.test(redirectUri) && URL.canParse(redirectUri)
      ? undefined
      : "redirect_uri is no address",
    state.length < MIN_STATE_LENGTH ? "state can be guessed" : undefined,
    scopeFault(rules, scopes),
    pkceFault(rules, query),
  ].find((each) => each !== undefined);
  const codeChallenge = query.get("code_challenge");
  return fault ?? { clientId, redirectUri, state, scopes, codeChallenge };
}

/** Sends the browser back to the app. */
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
