import { afterAll, expect, test } from "vitest";
import { createTestServer, type Peers } from "./fixture.ts";

const LINK_SECRET = "t".repeat(43);
const ORIGIN = "https://app.example.com";
const PEERS: Peers = {
  authorizations: {
    findConnectLink: () => ({ outcome: "open" as const, platform: "x", workspaceName: "Ours" }),
  },
  accounts: { listAccounts: () => ({ accounts: [] }) },
};

const PLACES = ["/docs/", `/connect/${LINK_SECRET}`, "/api/v1/accounts", "/api/v1/openapi.json"];
const OTHERS = ["/nothing", "/api/v1/nothing", "/livez", "/media/nothing", "/connect/callback"];

const app = await createTestServer(PEERS);
const secure = await createTestServer({ ...PEERS, publicUrl: "https://post.example.com" });
afterAll(async () => {
  await app.close();
  await secure.close();
});

test.each([...PLACES, ...OTHERS])(
  "the headers of %s forbid framing, type sniffing, caching and sending the URL as referrer",
  async (url) => {
    const { headers } = await app.inject({ url });
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "cross-origin-resource-policy": "same-origin",
      "content-security-policy": expect.stringContaining("frame-ancestors 'none'") as unknown,
    });
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; /);
    expect(headers["server"] ?? headers["x-powered-by"]).toBeUndefined();
  },
);

test.each(["/docs/", `/connect/${LINK_SECRET}`])(
  "the page %s is isolated from windows of other origins",
  async (url) => {
    const { headers, statusCode } = await app.inject({ url });
    expect(statusCode).toBe(200);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(headers["cross-origin-opener-policy"]).toBe("same-origin");
    expect(headers["content-security-policy"]).toMatch(/base-uri 'none'/);
    expect(headers["content-security-policy"]).not.toMatch(/unsafe-eval|script-src[^;]*unsafe/);
  },
);

test("the gateway's pages have no inline style or script that their Content-Security-Policy does not list", async () => {
  const { headers } = await app.inject({ url: `/connect/${LINK_SECRET}` });
  expect(headers["content-security-policy"]).not.toContain("unsafe-inline");
});

test("Strict-Transport-Security is sent only if the public URL is https", async () => {
  for (const url of [...PLACES, ...OTHERS]) {
    const plain = await app.inject({ url, headers: { "x-forwarded-proto": "https" } });
    expect(plain.headers["strict-transport-security"], url).toBeUndefined();
    const answer = await secure.inject({ url });
    expect(answer.headers["strict-transport-security"], url).toBe("max-age=31536000");
  }
});

test.each(PLACES)(
  "the gateway sends no Access-Control headers for %s to pages of other origins",
  async (url) => {
    for (const method of ["GET", "OPTIONS"] as const) {
      const headers = {
        origin: ORIGIN,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
      };
      const answer = await app.inject({ method, url, headers });
      const told = Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"));
      expect(told).toEqual([]);
    }
  },
);
