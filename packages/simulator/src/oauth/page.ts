import type { Reply } from "#src/http/call.ts";
import type { AuthorizeRequest } from "#src/oauth/authorize-request.ts";

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function htmlPage(status: number, title: string, content: string): Reply {
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1>${content}</body></html>`;
  return { status, headers: { "content-type": "text/html; charset=utf-8" }, body };
}

/** The page that a user sees when the OAuth authorization request of an app is invalid. */
export function faultPage(fault: string): Reply {
  return htmlPage(400, "Invalid authorization request", `<p>${escape(fault)}</p>`);
}

/**
 * The OAuth approval page. The user enters a username, or leaves the field empty to create a new account, and can list
 * permissions to decline. The form posts to the page's own URL.
 */
export function approvalPage(platform: string, { clientId, scopes }: AuthorizeRequest): Reply {
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
