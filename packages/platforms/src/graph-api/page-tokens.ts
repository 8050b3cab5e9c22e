import { askPlatform, unavailable } from "#src/authorization/call.ts";
import type { Unavailable } from "#src/authorization/connector.ts";
import { list, object, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import type { GraphApp } from "./token-owner.ts";

export type PageTokens = { readonly kind: "pages"; readonly tokens: readonly string[] };

type Entries = { readonly kind: "entries"; readonly entries: readonly unknown[] };

/** With 100 entries per page, the entries after the first thousand are left out. */
const MAX_REQUESTS = 10;
const LIST_LENGTH = 100;

interface Person {
  readonly app: GraphApp;
  readonly token: string;
  readonly signal: AbortSignal;
}

async function readList(
  person: Person,
  path: string,
  fields: string,
): Promise<Entries | Unavailable> {
  const entries: unknown[] = [];
  let after: string | undefined = "";
  for (let request = 0; request < MAX_REQUESTS && after !== undefined; request += 1) {
    const answer = await askForPage(person, path, { fields, after });
    if (answer.kind !== "answer") return answer;
    if (isRefused(answer)) break;
    if (answer.status !== 200) return unavailable(`the list ${path} answered ${answer.status}`);
    entries.push(...list(answer.json, "data"));
    after = nextOf(answer);
  }
  return { kind: "entries", entries };
}

async function askForPage(
  { app: { baseUrl, version }, token, signal }: Person,
  path: string,
  { fields, after }: { readonly fields: string; readonly after: string },
) {
  const query = new URLSearchParams({ fields, limit: String(LIST_LENGTH) });
  if (after !== "") query.set("after", after);
  const url = `${baseUrl}/${version}/${path}?${query.toString()}`;
  return await askPlatform({ method: "GET", url, headers: bearer(token) }, signal);
}

function isRefused({ status, json }: PlatformAnswer): boolean {
  return status >= 400 && status < 500 && status !== 429 && json !== undefined;
}

function nextOf({ json }: PlatformAnswer): string | undefined {
  const paging = object(json, "paging");
  return text(paging, "next") === undefined ? undefined : text(object(paging, "cursors"), "after");
}

/**
 * Also those on which the person has a role through a Business portfolio, which `/me/accounts`
 * leaves out.
 */
export async function fetchPageTokens(
  app: GraphApp,
  token: string,
  signal: AbortSignal,
): Promise<PageTokens | Unavailable> {
  const person = { app, token, signal };
  const businesses = await readList(person, "me/businesses", "id");
  if (businesses.kind !== "entries") return businesses;
  const ids = businesses.entries.flatMap((business) => text(business, "id") ?? []);
  const paths = [
    "me/accounts",
    ...ids.flatMap((id) => [`${id}/owned_pages`, `${id}/client_pages`]),
  ];
  const tokens = new Map<string, string>();
  for (const path of paths) {
    const pages = await readList(person, path, "id,access_token");
    if (pages.kind !== "entries") return pages;
    for (const page of pages.entries) {
      const id = text(page, "id");
      const pageToken = text(page, "access_token");
      if (id !== undefined && pageToken !== undefined && !tokens.has(id)) tokens.set(id, pageToken);
    }
  }
  return { kind: "pages", tokens: [...tokens.values()] };
}
