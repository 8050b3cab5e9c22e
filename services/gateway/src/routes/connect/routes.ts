import { createHash, randomBytes } from "node:crypto";
import { ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type ConnectPage, toConnectPage } from "#src/http/connect-texts.ts";
import { createHostCookie, type HostCookie } from "#src/http/host-cookie.ts";
import { type PageContent, renderPage, toPolicy } from "#src/routes/connect/page.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { PAGE_HEADERS } from "#src/routes/hooks/answer-headers.ts";
import { HIDDEN } from "#src/routes/schemas.ts";

const SECRET = /^[A-Za-z0-9_-]{43}$/;
/** Lifetime of a connect link in seconds. */
const MAX_AGE_SECONDS = 600;
const ID_LENGTH = 16;

function newBrowserSecret(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Returns the cookie that binds an authorization to the browser that was shown its page, with the
 * secret that identifies this browser. Each authorization has a cookie of its own, so that a
 * browser can connect several accounts at the same time.
 *
 * @param subject The secret that identifies the authorization in this step: the secret of its
 *   connect link before the browser is sent to the platform, and the OAuth state afterwards. The
 *   name of the cookie contains only the hash of this secret.
 */
export function browserCookieOf(subject: string, publicUrl: string): HostCookie {
  const { protocol, pathname } = new URL(publicUrl);
  const id = createHash("sha256").update(subject).digest("hex").slice(0, ID_LENGTH);
  return createHostCookie({
    name: `postrider-connect-${id}`,
    isSecure: protocol === "https:",
    path: `${pathname.replace(/\/+$/, "")}/connect`,
    isValid: (value) => SECRET.test(value),
  });
}

type Deps = Pick<ServerDeps, "authorizations" | "publicUrl" | "logger">;

interface Link {
  readonly Params: { readonly secret: string };
}

interface Callback {
  readonly Querystring: Readonly<Record<string, unknown>>;
}

const STATUSES: Readonly<Record<ConnectPage, number>> = {
  open: 200,
  connected: 200,
  unknown: 404,
  used: 410,
  expired: 410,
  other_browser: 403,
  denied: 403,
  refused: 400,
  permission_missing: 403,
  no_account: 400,
  unavailable: 503,
};

/** Pattern of the secret in a connect link. Any other text was never issued. */
const LINK_SECRET = /^[A-Za-z0-9_-]{43}$/;
/** A longer query parameter counts as missing. The codes of platforms are far shorter. */
const MAX_VALUE_LENGTH = 4_096;
/** Exchanging the authorization code takes up to three calls to the platform. */
const CALLBACK_TIMEOUT_MS = 35_000;

function sendPage(
  reply: FastifyReply,
  content: Omit<PageContent, "locale">,
  formOrigin?: string,
): FastifyReply {
  return reply
    .status(STATUSES[content.page])
    .header("content-security-policy", toPolicy(formOrigin))
    .headers(PAGE_HEADERS)
    .type("text/html; charset=utf-8")
    .send(renderPage({ ...content, locale: reply.request.locale }));
}

/** "" when the parameter is absent, repeated or too long. */
function valueOf(query: Callback["Querystring"], name: string): string {
  const value = query[name];
  return typeof value === "string" && value.length <= MAX_VALUE_LENGTH ? value : "";
}

async function showLink(
  { authorizations, publicUrl }: Deps,
  request: FastifyRequest<Link>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { secret } = request.params;
  if (!LINK_SECRET.test(secret)) return sendPage(reply, { page: "unknown" });
  const found = await authorizations.findConnectLink({ linkSecret: secret });
  const { outcome, platform, workspaceName, authorizeOrigin } = found;
  if (outcome !== "open") return sendPage(reply, { page: toConnectPage(outcome) });
  // The secret in the cookie is new each time that the page is shown, because an attacker may have
  // planted the cookie that the browser already has.
  reply.header(
    "set-cookie",
    browserCookieOf(secret, publicUrl).write(newBrowserSecret(), MAX_AGE_SECONDS),
  );
  return sendPage(reply, { page: "open", platform, workspace: workspaceName }, authorizeOrigin);
}

/**
 * Returns the headers that move the browser's secret from the cookie of the connect link to the
 * cookie of the OAuth state. The platform sends only the OAuth state back, not the secret of the
 * connect link.
 */
function moveCookie(secret: string, authorizeUrl: string, browser: string, publicUrl: string) {
  const state = new URL(authorizeUrl).searchParams.get("state") ?? "";
  const [before, after] = [browserCookieOf(secret, publicUrl), browserCookieOf(state, publicUrl)];
  return [before.clear(), after.write(browser, MAX_AGE_SECONDS)];
}

async function openLink(
  { authorizations, publicUrl }: Deps,
  request: FastifyRequest<Link>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { secret } = request.params;
  if (!LINK_SECRET.test(secret)) return sendPage(reply, { page: "unknown" });
  const browser = browserCookieOf(secret, publicUrl).read(request.headers.cookie);
  if (browser === undefined) return sendPage(reply, { page: "other_browser" });
  const { outcome, authorizeUrl } = await authorizations.openConnectLink({
    linkSecret: secret,
    browser,
  });
  if (outcome !== "opened") return sendPage(reply, { page: toConnectPage(outcome) });
  reply.header("set-cookie", moveCookie(secret, authorizeUrl, browser, publicUrl));
  return await reply.redirect(authorizeUrl, 303);
}

/** The page of the dashboard that asked for the connect link learns what it has connected. */
function withAccounts(back: string, accounts: readonly { readonly id: string }[]): string {
  const url = new URL(back);
  url.searchParams.set("connected", accounts.map(({ id }) => id).join(","));
  return url.href;
}

async function finish(
  { authorizations, publicUrl }: Deps,
  request: FastifyRequest<Callback>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { query, headers } = request;
  const state = valueOf(query, "state");
  const sent = {
    state,
    code: valueOf(query, "code"),
    error: valueOf(query, "error"),
    browser: browserCookieOf(state, publicUrl).read(headers.cookie) ?? "",
  };
  const answer = await authorizations.finishAuthorization(sent, { timeoutMs: CALLBACK_TIMEOUT_MS });
  const { outcome, platform, accounts, missingScopes, returnTo } = answer;
  const back = returnTo === undefined ? undefined : `${publicUrl}${returnTo}`;
  if (back !== undefined && outcome === "connected")
    return await reply.redirect(withAccounts(back, accounts), 303);
  const names = [...accounts.map(({ username }) => username), ...missingScopes];
  const missing = [...new Set(accounts.flatMap((account) => account.permissions?.missing ?? []))];
  return sendPage(reply, { page: toConnectPage(outcome), platform, names, missing, back });
}

/**
 * Whether the error was caused by a wrong request, such as one whose query is not valid UTF-8. No
 * link that Postrider issues leads to such a request.
 */
function isClientFault(error: Error & { readonly statusCode?: number }): boolean {
  if (error instanceof ServiceError) return error.kind === "invalid";
  return error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500;
}

/**
 * Registers the pages that connect an account. `GET /connect/{secret}` only explains what will
 * happen, so that programs that preview links do not use up the connect link. The button of this
 * page sends the browser to the platform, and the platform sends the browser back to
 * `/connect/callback`. No page has a script. No secret is logged, because the log contains routes
 * instead of URLs.
 */
export function registerConnect(app: FastifyInstance, deps: Deps): void {
  const options = {
    schema: HIDDEN,
    config: { timeoutMs: CALLBACK_TIMEOUT_MS, openLimit: "connect" as const },
    // People read the answers of the connect routes in a browser, so a failure is answered with a
    // page as well.
    errorHandler: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      // A rate limit error is still answered in JSON, because a person with a browser does not
      // reach the limit.
      if (error instanceof ServiceError && error.reason === "rate_limited") throw error;
      if (isClientFault(error)) {
        request.errorCode = "invalid_request";
        sendPage(reply, { page: "unknown" });
        return;
      }
      request.errorCode = error instanceof ServiceError ? error.reason : "internal";
      deps.logger.warn(
        { err: error, requestId: request.id },
        "a page for connecting an account could not be served; the browser shows an error page",
      );
      sendPage(reply, { page: "unavailable" });
    },
  };
  app.get<Callback>("/connect/callback", options, (request, reply) => finish(deps, request, reply));
  app.get<Link>("/connect/:secret", options, (request, reply) => showLink(deps, request, reply));
  app.post<Link>("/connect/:secret", options, (request, reply) => openLink(deps, request, reply));
}
