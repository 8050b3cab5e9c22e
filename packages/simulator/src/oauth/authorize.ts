import { type Call, formOf, type Moment, type Reply } from "#src/http/call.ts";
import type { AuthorizationCodes } from "#src/oauth/codes.ts";
import type { AccountIssuer, Route } from "#src/platform.ts";
import type { Settings } from "#src/world/settings.ts";

interface AuthorizeRules {
  readonly clientParameter: "client_id" | "client_key";
  readonly scopeSeparator: " " | ",";
  readonly scopes: readonly string[];
  /** With `none`, a request with a code challenge is refused. */
  readonly pkce: "required" | "optional" | "none";
}

interface AuthorizeRequest {
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
  if (challenge === null) return pkce === "required" ? "code_challenge is missing" : undefined;
  if (pkce === "none") return "code_challenge is not supported; remove it";
  return query.get("code_challenge_method") === "S256" && CHALLENGE.test(challenge)
    ? undefined
    : "code_challenge must be the base64url SHA-256 of the verifier, with code_challenge_method S256";
}

function scopeFault(rules: AuthorizeRules, scopes: readonly string[]): string | undefined {
  const unknown = scopes.find((scope) => !rules.scopes.includes(scope));
  return scopes.length === 0 ? "scope is missing" : unknown && `scope ${unknown} is unknown`;
}

/**
 * An invalid request gets an error page instead of a redirect, because its redirect URI is not
 * trustworthy.
 */
function readRequest(rules: AuthorizeRules, query: URLSearchParams): AuthorizeRequest | string {
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

function redirect(
  { redirectUri, state }: AuthorizeRequest,
  answer: Readonly<Record<string, string>>,
): Reply {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries({ ...answer, state }))
    url.searchParams.set(name, value);
  return { status: 302, headers: { location: url.href }, body: "" };
}

function denied(request: AuthorizeRequest): Reply {
  return redirect(request, {
    error: "access_denied",
    error_description: "The user denied the request.",
  });
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function htmlPage(status: number, title: string, content: string): Reply {
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1>${content}</body></html>`;
  return { status, headers: { "content-type": "text/html; charset=utf-8" }, body };
}

function faultPage(fault: string): Reply {
  return htmlPage(400, "Invalid authorization request", `<p>${escape(fault)}</p>`);
}

/** The form posts to the page's own URL. */
function approvalPage(platform: string, { clientId, scopes }: AuthorizeRequest): Reply {
  const list = scopes.map((scope) => `<li>${escape(scope)}</li>`).join("");
  const content = [
    `<p>${escape(clientId)} wants to act for you:</p><ul>${list}</ul>`,
    `<form method="post"><label>Username <input name="username" autocomplete="off"></label>`,
    `<label>Permissions not to grant <input name="decline" autocomplete="off"></label>`,
    `<button name="decision" value="approve">Approve</button>`,
    `<button name="decision" value="deny">Deny</button></form>`,
  ];
  return htmlPage(200, `Simulated ${platform}`, content.join(""));
}

export interface AuthorizePage extends AuthorizeRules {
  readonly path: string;
  readonly platform: AccountIssuer;
  readonly settings: Settings;
  readonly codes: AuthorizationCodes;
}

function namesIn(text: string): readonly (string | undefined)[] {
  const names = text.split(",").map((name) => name.trim());
  const given = names.filter((name) => name !== "");
  return given.length === 0 ? [undefined] : given;
}

interface Decision {
  readonly names: string;
  readonly declined: readonly string[];
}

function approve(
  page: AuthorizePage,
  request: AuthorizeRequest,
  { names, declined }: Decision,
  now: number,
): Reply {
  const chosen = namesIn(names);
  const fault = chosen
    .map((name) => (name === undefined ? undefined : page.platform.usernameFault(name)))
    .find((each) => each !== undefined);
  if (fault !== undefined) return faultPage(`Invalid username: ${fault}`);
  const accounts = chosen.map((name) => page.platform.issueAccount(name).account.externalId);
  const { clientId, redirectUri, codeChallenge } = request;
  const scopes = request.scopes.filter((scope) => !declined.includes(scope));
  const approval = { clientId, redirectUri, scopes, declined, codeChallenge, accounts };
  const code = page.codes.issue(approval, now);
  return redirect(request, { code });
}

function show(page: AuthorizePage, call: Call, { now }: Moment): Reply {
  const request = readRequest(page, call.query);
  if (typeof request === "string") return faultPage(request);
  switch (page.settings.values.authorize) {
    case "approve":
      return approve(page, request, { names: "", declined: [] }, now);
    case "deny":
      return denied(request);
    case "ask":
      return approvalPage(page.platform.id, request);
  }
}

function decisionIn(form: URLSearchParams): Decision {
  const declined = (form.get("decline") ?? "").split(/[\s,]+/).filter((scope) => scope !== "");
  return { names: form.get("username") ?? "", declined };
}

function decide(page: AuthorizePage, call: Call, { now }: Moment): Reply {
  const request = readRequest(page, call.query);
  if (typeof request === "string") return faultPage(request);
  const form = formOf(call);
  return form.get("decision") === "approve"
    ? approve(page, request, decisionIn(form), now)
    : denied(request);
}

export function authorizeRoutes(page: AuthorizePage): readonly Route[] {
  const route = { path: page.path, operations: () => ["login"] as const };
  return [
    { ...route, method: "GET", handle: (call, moment) => show(page, call, moment) },
    { ...route, method: "POST", handle: (call, moment) => decide(page, call, moment) },
  ];
}
