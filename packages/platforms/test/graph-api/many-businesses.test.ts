import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createFacebookAuthorizationConnector, PERMISSIONS } from "#src/facebook/authorization.ts";

const GRANTED = (PERMISSIONS.essential ?? []).map((permission) => ({
  permission,
  status: "granted",
}));
const BUSINESSES = Array.from({ length: 20 }, (_, number) => ({ id: `business${number}` }));
const PAGE_LISTS = 1 + 2 * BUSINESSES.length;

/** A Graph API error that answers the list at `path`. */
interface Refusal {
  readonly path: string;
  readonly status: number;
  readonly error: object;
}

/**
 * A Graph API for a person with 20 businesses who has one Page of their own, and one in each
 * business. Every business also lists the own one, with another token. A list of Pages is answered
 * once eight of them are asked for, or all that are left.
 */
class ManyBusinesses {
  readonly #refusal: Refusal | undefined;
  readonly #held: (() => void)[] = [];
  #unanswered = PAGE_LISTS;
  #inProgress = 0;
  /** Largest number of lists of Pages that were asked for at the same time. */
  mostAtOnce = 0;

  constructor(refusal?: Refusal) {
    this.#refusal = refusal;
  }

  answer({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
    const path = new URL(url, "http://localhost").pathname.replace("/v25.0/", "");
    const send = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (path === this.#refusal?.path)
      return send(this.#refusal.status, { error: this.#refusal.error });
    if (path === "oauth/access_token") return send(200, { access_token: "person" });
    if (path === "me/permissions") return send(200, { data: GRANTED });
    if (path === "me/businesses") return send(200, { data: BUSINESSES });
    const page = headers.authorization?.replace("Bearer token of ", "");
    if (path === "me") return send(200, { id: page, name: page, username: page });
    const own = { id: "own", access_token: "token of own" };
    if (path === "me/accounts") return this.#hold(response, () => send(200, { data: [own] }));
    const [business = ""] = path.split("/");
    const data = path.endsWith("owned_pages")
      ? [
          { ...own, access_token: "token of business" },
          { id: business, access_token: `token of ${business}` },
        ]
      : [];
    return this.#hold(response, () => send(200, { data }));
  }

  #hold(response: ServerResponse, answer: () => void): void {
    this.#inProgress += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#inProgress);
    response.once("finish", () => (this.#inProgress -= 1));
    this.#held.push(answer);
    const isRefusing = this.#refusal !== undefined;
    if (!isRefusing && this.#held.length < Math.min(8, this.#unanswered)) return;
    const answers = this.#held.splice(0);
    this.#unanswered -= answers.length;
    for (const each of answers) each();
  }
}

async function exchangeAt(graph: ManyBusinesses) {
  const server = createServer((request, response) => graph.answer(request, response));
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { codeFlow } = createFacebookAuthorizationConnector({
    baseUrl,
    version: "v25.0",
    authorizeUrl: `${baseUrl}/dialog/oauth`,
    clientId: "app",
    clientSecret: "secret",
  });
  const grant = { code: "code", redirectUri: "https://example.com/callback", codeVerifier: "v" };
  try {
    return await codeFlow?.exchange(grant, AbortSignal.timeout(3_000));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("the Pages of many businesses are listed eight lists at a time, and the person's own token of a Page wins", async () => {
  const graph = new ManyBusinesses();
  const result = await exchangeAt(graph);
  const connections = result?.kind === "granted" ? result.connections : [];
  expect(connections.map(({ externalId }) => externalId)).toEqual([
    "own",
    ...BUSINESSES.map(({ id }) => id),
  ]);
  expect(connections[0]?.tokens.accessToken).toBe("token of own");
  expect(graph.mostAtOnce).toBe(8);
});

const LIMIT = { code: 4, message: "Application request limit reached" };

test.each([
  ["me/businesses", 403, LIMIT],
  ["me/accounts", 403, LIMIT],
  ["business7/client_pages", 400, { code: 17, message: "User request limit reached" }],
  ["business7/owned_pages", 400, { code: 2, message: "Service temporarily unavailable" }],
  ["business7/owned_pages", 400, { code: 190, is_transient: true, message: "Try again" }],
])(
  "Facebook Login ends as unavailable, and connects no part of the Pages, when the list %s is refused for now with HTTP %i",
  async (path, status, error) => {
    const result = await exchangeAt(new ManyBusinesses({ path, status, error }));
    expect(result).toMatchObject({ kind: "unavailable" });
  },
);

test("a business whose Pages the person may not list does not keep the others from being connected", async () => {
  const error = { code: 200, message: "Permissions error" };
  const refusal = { path: "business7/owned_pages", status: 403, error };
  const result = await exchangeAt(new ManyBusinesses(refusal));
  expect(result?.kind === "granted" && result.connections).toHaveLength(BUSINESSES.length);
});
