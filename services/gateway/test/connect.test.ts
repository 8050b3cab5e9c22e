import { notFound, unavailable } from "@postrider/shared/errors";
import { createLogger } from "@postrider/shared/telemetry/logger";
import type { FastifyInstance } from "fastify";
import { afterEach, describe, expect, test } from "vitest";
import { ACCOUNT_ID, admitted, createTestServer, WORKSPACE_ID, type Peers } from "./fixture.ts";

const TICKET = "t".repeat(43);
const BROWSER = "b".repeat(43);
const COOKIE = `other=1; postrider_connect=${BROWSER}`;
const OPEN = {
  outcome: "open",
  platform: "x",
  workspaceName: '<Cats & "Co">',
  authorizeOrigin: "https://x.example",
};

let app: FastifyInstance | undefined;
afterEach(async () => {
  await app?.close();
});

type Authorizations = NonNullable<Peers["authorizations"]>;

async function serve(
  authorizations: Authorizations,
  admit = () => admitted(),
): Promise<FastifyInstance> {
  app = await createTestServer({ authorizations }, admit);
  return app;
}

describe("a link", () => {
  test("shows what will happen, escaped, and spends nothing; no key is needed and no budget used", async () => {
    const asked: string[] = [];
    const server = await serve(
      {
        findTicket: ({ ticket }) => {
          asked.push(ticket);
          return OPEN;
        },
      },
      () => {
        throw new Error("a key was asked for");
      },
    );
    const answer = await server.inject({ url: `/connect/${TICKET}` });
    expect(answer.statusCode).toBe(200);
    expect(asked).toEqual([TICKET]);
    expect(answer.body).toContain("Connect X");
    expect(answer.body).toContain("“&lt;Cats &amp; &quot;Co&quot;&gt;”");
    expect(answer.body).not.toContain("<Cats");
    expect(answer.body).not.toContain("<script");
    expect(answer.body).not.toContain(TICKET);
  });

  test("is answered with headers that allow one style, our form and nothing else", async () => {
    const server = await serve({ findTicket: () => OPEN });
    const { headers } = await server.inject({ url: `/connect/${TICKET}` });
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self' https: https:\/\/x\.example; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
    expect(headers["set-cookie"]).toMatch(
      /^postrider_connect=[A-Za-z0-9_-]{43}; Path=\/connect; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
  });

  test("speaks Korean to who prefers it", async () => {
    const server = await serve({ findTicket: () => OPEN });
    const answer = await server.inject({
      url: `/connect/${TICKET}`,
      headers: { "accept-language": "ko-KR,ko;q=0.9" },
    });
    expect(answer.body).toContain('<html lang="ko">');
    expect(answer.body).toContain("X 연결");
  });

  test.each([
    ["unknown", 404],
    ["used", 410],
    ["expired", 410],
  ])("that is %s says so on a page", async (outcome, status) => {
    const server = await serve({ findTicket: () => ({ outcome }) });
    const answer = await server.inject({ url: `/connect/${TICKET}` });
    expect(answer.statusCode).toBe(status);
    expect(answer.body).toContain(`data-page="${outcome}"`);
    expect(answer.headers["content-security-policy"]).toContain("form-action 'none'");
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });

  test("that cannot be ours is unknown without asking anybody", async () => {
    const server = await serve({});
    for (const url of [`/connect/${"t".repeat(42)}`, `/connect/${"é".repeat(43)}`]) {
      expect((await server.inject({ url })).statusCode).toBe(404);
      expect((await server.inject({ method: "POST", url })).statusCode).toBe(404);
    }
  });

  test("is opened by the browser that has seen its page, which is sent to the platform", async () => {
    const opened: unknown[] = [];
    const server = await serve({
      openTicket: ({ ticket, browser }) => {
        opened.push({ ticket, browser });
        return { outcome: "opened", authorizeUrl: "https://x.example/authorize?state=s" };
      },
    });
    const answer = await server.inject({
      method: "POST",
      url: `/connect/${TICKET}`,
      headers: { cookie: COOKIE, "content-type": "application/x-www-form-urlencoded" },
    });
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe("https://x.example/authorize?state=s");
    expect(opened).toEqual([{ ticket: TICKET, browser: BROWSER }]);
  });

  test("is not opened for a form of another site, which comes without the cookie", async () => {
    const server = await serve({});
    const answer = await server.inject({ method: "POST", url: `/connect/${TICKET}` });
    expect(answer.statusCode).toBe(403);
    expect(answer.body).toContain('data-page="other_browser"');
  });
});

describe("the way back", () => {
  const back = (server: FastifyInstance, query: string) =>
    server.inject({ url: `/connect/callback?${query}`, headers: { cookie: COOKIE } });

  test("hands on what the platform sent, and shows what was connected", async () => {
    const finished: unknown[] = [];
    const server = await serve({
      finishAuthorization: ({ state, code, error, browser }) => {
        finished.push({ state, code, error, browser });
        return { outcome: "connected", platform: "x", accounts: [{ username: "<i>cat</i>" }] };
      },
    });
    const answer = await back(server, "state=s&code=c&scope=more");
    expect(finished).toEqual([{ state: "s", code: "c", error: "", browser: BROWSER }]);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toContain("<li>&lt;i&gt;cat&lt;/i&gt;</li>");
  });

  test.each([
    ["denied", 403],
    ["other_browser", 403],
    ["unknown_state", 404],
    ["used", 410],
    ["expired", 410],
    ["refused", 400],
    ["no_account", 400],
    ["unavailable", 503],
    ["a word of a later release", 503],
  ])("that ends with %s is a page with status %i", async (outcome, status) => {
    const server = await serve({ finishAuthorization: () => ({ outcome, platform: "x" }) });
    const answer = await back(server, "state=s&error=access_denied");
    expect(answer.statusCode).toBe(status);
    expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
  });

  test("with repeated parameters is taken as if they were missing", async () => {
    const finished: unknown[] = [];
    const server = await serve({
      finishAuthorization: ({ state, code }) => {
        finished.push({ state, code });
        return { outcome: "unknown_state" };
      },
    });
    await back(server, "state=a&state=b&code=c");
    expect(finished).toEqual([{ state: "", code: "c" }]);
  });

  test("is a page too when a service does not answer", async () => {
    const server = await serve({
      finishAuthorization: () => {
        throw unavailable();
      },
    });
    const answer = await back(server, "state=s&code=c");
    expect(answer.statusCode).toBe(503);
    expect(answer.body).toContain('data-page="unavailable"');
  });

  test("leaves no ticket, state, code or browser in the log", async () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const logger = createLogger({ service: "test", level: "trace", destination });
    app = await createTestServer(
      {
        authorizations: {
          findTicket: () => OPEN,
          finishAuthorization: () => {
            throw unavailable();
          },
        },
      },
      () => admitted(),
      logger,
    );
    await app.inject({ url: `/connect/${TICKET}` });
    await back(app, "state=secret-state&code=secret-code");
    const log = lines.join("");
    expect(log).toContain("/connect/callback");
    for (const secret of [TICKET, BROWSER, "secret-state", "secret-code"])
      expect(log).not.toContain(secret);
  });
});

describe("DELETE /accounts/{id}", () => {
  const remove = (server: FastifyInstance, id = ACCOUNT_ID) =>
    server.inject({ method: "DELETE", url: `/api/v1/accounts/${id}` });

  test("answers 204 and says whether the platform was asked", async () => {
    const refs: unknown[] = [];
    app = await createTestServer({
      accounts: {
        disconnectAccount: ({ ref }) => {
          refs.push([ref?.workspaceId, ref?.accountId]);
          return refs.length === 1
            ? { revocation: "unconfirmed" }
            : { revocation: "not_attempted", reason: "already_disconnected" };
        },
      },
    });
    const [first, second] = [await remove(app), await remove(app)];
    expect([first.statusCode, first.body]).toEqual([204, ""]);
    expect(first.headers["x-provider-revocation"]).toBe("unconfirmed");
    expect(first.headers["x-provider-revocation-reason"]).toBeUndefined();
    expect(second.statusCode).toBe(204);
    expect(second.headers["x-provider-revocation"]).toBe("not_attempted");
    expect(second.headers["x-provider-revocation-reason"]).toBe("already_disconnected");
    expect(refs).toEqual([
      [WORKSPACE_ID, ACCOUNT_ID],
      [WORKSPACE_ID, ACCOUNT_ID],
    ]);
  });

  test("is 404 for what is nobody's, and 403 without accounts:write", async () => {
    app = await createTestServer({
      accounts: {
        disconnectAccount: () => {
          throw notFound();
        },
      },
    });
    expect((await remove(app)).statusCode).toBe(404);
    expect((await remove(app, "no-id")).statusCode).toBe(404);
    await app.close();
    app = await createTestServer({}, () => admitted({ scopes: new Set(["accounts:read"]) }));
    expect((await remove(app)).json()).toMatchObject({ error: { code: "insufficient_scope" } });
  });
});
