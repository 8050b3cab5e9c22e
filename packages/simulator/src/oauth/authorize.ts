import type { Call, Moment, Reply } from "#src/http/call.ts";
import { denied, readRequest, redirect } from "#src/oauth/authorize-request.ts";
import type { AuthorizeRequest, AuthorizeRules } from "#src/oauth/authorize-request.ts";
import type { AuthorizationCodes } from "#src/oauth/codes.ts";
import { approvalPage, faultPage } from "#src/oauth/page.ts";
import type { Route } from "#src/platform.ts";
import type { Account } from "#src/world/accounts.ts";
import type { Settings } from "#src/world/settings.ts";

/** The OAuth authorization page of one simulated platform. */
export interface AuthorizePage extends AuthorizeRules {
  readonly platform: string;
  readonly path: string;
  readonly settings: Settings;
  readonly codes: AuthorizationCodes;
  readonly usernameFault: (username: string) => string | undefined;
  /**
   * Finds or creates the simulated account with the given username. Without a username, creates a
   * new account.
   */
  readonly ensureAccount: (username: string | undefined) => Account;
}

/**
 * Reads the usernames, separated by commas, from the form of the OAuth approval page. Returns one
 * undefined entry when the form has no username.
 */
function namesIn(text: string): readonly (string | undefined)[] {
  const names = text.split(",").map((name) => name.trim());
  const given = names.filter((name) => name !== "");
  return given.length === 0 ? [undefined] : given;
}

/** What the user chose on the OAuth approval page. */
interface Decision {
  /** Usernames of the accounts that the user selected, separated by commas. */
  readonly names: string;
  /** Scopes that the user deselected on the OAuth approval page. */
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
    .map((name) => (name === undefined ? undefined : page.usernameFault(name)))
    .find((each) => each !== undefined);
  if (fault !== undefined) {
    return faultPage(`Invalid username: ${fault}`);
  }
  const accounts = chosen.map((name) => page.ensureAccount(name).externalId);
  const { clientId, redirectUri, codeChallenge } = request;
  const scopes = request.scopes.filter((scope) => !declined.includes(scope));
  const approval = { clientId, redirectUri, scopes, declined, codeChallenge, accounts };
  const code = page.codes.issue(approval, now);
  return redirect(request, { code });
}

/**
 * Approves an authorization request, denies it, or shows the approval page, as the simulator's
 * setting `authorize` says.
 */
function show(page: AuthorizePage, call: Call, { now }: Moment): Reply {
  const request = readRequest(page, call.query);
  if (typeof request === "string") {
    return faultPage(request);
  }
  switch (page.settings.values.authorize) {
    case "approve":
      return approve(page, request, { names: "", declined: [] }, now);
    case "deny":
      return denied(request);
    case "ask":
      return approvalPage(page.platform, request);
  }
}

function decisionIn(form: URLSearchParams): Decision {
  const declined = (form.get("decline") ?? "").split(/[\s,]+/).filter((scope) => scope !== "");
  return { names: form.get("username") ?? "", declined };
}

/** Approves or denies an OAuth authorization request, as the user chose on the approval page. */
function decide(page: AuthorizePage, call: Call, { now }: Moment): Reply {
  const request = readRequest(page, call.query);
  if (typeof request === "string") {
    return faultPage(request);
  }
  const form = new URLSearchParams(call.body.toString("utf8"));
  return form.get("decision") === "approve"
    ? approve(page, request, decisionIn(form), now)
    : denied(request);
}

/**
 * The routes of the OAuth authorization page, on which a user approves or denies the request of an
 * app.
 */
export function authorizeRoutes(page: AuthorizePage): readonly Route[] {
  const route = { path: page.path, operations: () => ["login"] as const };
  return [
    { ...route, method: "GET", handle: (call, moment) => show(page, call, moment) },
    { ...route, method: "POST", handle: (call, moment) => decide(page, call, moment) },
  ];
}
