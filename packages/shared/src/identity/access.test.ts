import { generateKeyPairSync } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { SignJWT } from "jose/jwt/sign";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectPeer } from "#src/connect/client.ts";
import { addPlainRoutes } from "#src/connect/plain-routes.ts";
import { createServiceServer } from "#src/connect/server.ts";
import { createLogger } from "#src/telemetry/logger.ts";
import { createTestIdentities } from "#src/testing/identities.ts";
import { createAccess } from "./access.ts";
import { keyIdOf } from "./identity-keys.ts";
import { createIdentitySource, IDENTITY_HEADER } from "./token-source.ts";

const NOW = Date.parse("2026-11-20T09:00:00.000Z");
const MINUTE = 60_000;
const logger = pino({ level: "silent" });
const identities = createTestIdentities();
const callers = { [`${PostService.typeName}/GetPost`]: ["gateway"] };

let baseUrl = "";
let close: () => Promise<void>;
beforeAll(async () => {
  const access = identities.accessOf("posts", callers);
  const post = { post: { id: "p" } };
  const app = await createServiceServer({
    access,
    logger,
    routes: (router) => router.service(PostService, { getPost: () => post, retryPost: () => post }),
  });
  await addPlainRoutes(app, {
    access,
    logger,
    routes: (plain) => {
      plain.get("/bytes", { config: { callers: ["gateway"] } }, () => "bytes");
      plain.get("/open", () => "a route that forgot its callers");
    },
  });
  baseUrl = await app.listen({ host: "127.0.0.1", port: 0 });
  close = () => app.close();
});
afterAll(() => close());

/**
 * Calls an RPC as the process `name`: once with our own client, and once as JSON, which Connect's
 * own server answers instead of ours. Returns the codes of both answers.
 */
async function call(name: string, method: "getPost" | "retryPost"): Promise<readonly unknown[]> {
  const identity = identities.of(name);
  await using peer = connectPeer({ service: "posts", baseUrl, identity });
  const posts = peer.client(PostService);
  const answer = method === "getPost" ? posts.getPost({}) : posts.retryPost({});
  const own = await answer.then(
    () => "ok",
    (error: Error) => (error.cause as ConnectError).code,
  );
  const path = method === "getPost" ? "GetPost" : "RetryPost";
  const json = await fetch(`${baseUrl}/${PostService.typeName}/${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(await createIdentitySource(identity, "posts")()),
    },
    body: "{}",
  });
  return [own, json.status];
}

test("a process can call the RPCs that the access table of the called service allows it, and no other RPC", async () => {
  expect(await call("gateway", "getPost")).toEqual(["ok", 200]);
  expect(await call("delivery", "getPost")).toEqual([Code.PermissionDenied, 403]);
  expect(await call("gateway", "retryPost")).toEqual([Code.PermissionDenied, 403]);
  expect(await call("operator", "getPost")).toEqual([Code.PermissionDenied, 403]);
});

test("the log says which process was refused which RPC", () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const access = createAccess({
    service: "posts",
    callers,
    logger: createLogger({ service: "posts", level: "info", destination }),
    ...identities.trust,
  });
  expect(() => access.authorize("delivery", ["gateway"], "GetPost")).toThrow("may not call");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: "warn", caller: "delivery", rpc: "GetPost" },
  ]);
});

test("an HTTP route that is not an RPC answers only the processes that it names as callers, and no process if it names none", async () => {
  const get = async (path: string, name: string) => {
    const headers = await createIdentitySource(identities.of(name), "posts")();
    return (await fetch(`${baseUrl}${path}`, { headers })).status;
  };
  expect(await get("/bytes", "gateway")).toBe(200);
  expect(await get("/bytes", "delivery")).toBe(403);
  expect(await get("/open", "gateway")).toBe(403);
  expect((await fetch(`${baseUrl}/bytes`)).status).toBe(401);
});

test.each([
  ["an RPC of our own client", "POST", `/${PostService.typeName}/GetPost`, "application/proto"],
  ["an RPC as JSON", "POST", `/${PostService.typeName}/GetPost`, "application/json"],
  ["a request that is not an RPC", "GET", "/bytes", undefined],
])(
  "a service that rejects the identity token of %s closes the connection, so that the next request can reach another process",
  async (_, method, path, contentType) => {
    const send = async (identity: Readonly<Record<string, string>>) => {
      const type = contentType === undefined ? {} : { "content-type": contentType };
      const body = contentType === "application/json" ? "{}" : undefined;
      const headers = { ...type, ...identity };
      const answer = await fetch(`${baseUrl}${path}`, { method, headers, body: body ?? null });
      return [answer.status, answer.headers.get("connection")];
    };
    const tokenOf = (at: number) =>
      createIdentitySource(identities.of("gateway"), "posts", () => at)();
    expect(await send(await tokenOf(Date.now()))).toEqual([200, "keep-alive"]);
    expect(await send(await tokenOf(Date.now() - 10 * MINUTE))).toEqual([401, "close"]);
  },
);

/**
 * Checks a token at an instant. Returns the caller's name if the service accepts the token, else
 * the reason of the refusal.
 */
async function check(token: string | undefined, at: number, service = "posts"): Promise<string> {
  const access = createAccess({
    service,
    callers,
    logger,
    ...identities.trust,
    now: () => at,
  });
  try {
    return await access.authenticate((name) => (name === IDENTITY_HEADER ? token : undefined));
  } catch (error) {
    return ConnectError.from(error).rawMessage;
  }
}

const tokenAt = async (at: number, name = "gateway") =>
  (await createIdentitySource(identities.of(name), "posts", () => at)())[IDENTITY_HEADER];

test("an identity token is accepted for 5 minutes, plus 1 minute for clock differences, and only by the service for which it was signed", async () => {
  const token = await tokenAt(NOW);
  expect(await check(token, NOW)).toBe("gateway");
  expect(await check(token, NOW + 5.9 * MINUTE)).toBe("gateway");
  expect(await check(token, NOW + 6.1 * MINUTE)).toContain('"exp" claim timestamp check failed');
  expect(await check(token, NOW, "accounts")).toContain('unexpected "aud" claim value');
  expect(await check(undefined, NOW)).toContain("the header x-identity is missing");
});

test("a service refuses an identity token after its expiry, even if the service has cached the token as verified", async () => {
  const token = await tokenAt(NOW);
  let at = NOW;
  const options = { service: "posts", callers, logger, ...identities.trust, now: () => at };
  const access = createAccess(options);
  expect(await access.authenticate(() => token)).toBe("gateway");
  expect(access.authenticate(() => token)).toBe("gateway");
  at = NOW + 6.1 * MINUTE;
  await expect(access.authenticate(() => token)).rejects.toThrow("exp");
});

test("an identity token is refused if it is forged, names another process, uses another algorithm or never expires", async () => {
  const { keys } = identities.of("gateway");
  const [{ key, publicKey }] = keys;
  const kid = keyIdOf(publicKey);
  const jwt = (issuer: string) =>
    new SignJWT({})
      .setIssuer(issuer)
      .setAudience("posts")
      .setExpirationTime(NOW / 1000 + 60);
  const eddsa = { alg: "EdDSA", kid };
  const valid = await jwt("gateway").setProtectedHeader(eddsa).sign(key);
  expect(await check(valid, NOW)).toBe("gateway");

  const [header, payload] = valid.split(".");
  const other = generateKeyPairSync("ed25519").privateKey;
  const forged = await jwt("gateway").setProtectedHeader(eddsa).sign(other);
  expect(await check(forged, NOW)).toContain("signature verification failed");
  expect(await check(`${header}.${payload}.`, NOW)).toContain("not accepted");
  const operator = await jwt("operator").setProtectedHeader(eddsa).sign(key);
  expect(await check(operator, NOW)).toContain("the issuer does not own the key");
  const unknown = await jwt("gateway")
    .setProtectedHeader({ ...eddsa, kid: "none" })
    .sign(key);
  expect(await check(unknown, NOW)).toContain("no trusted key has the key id");
  const shared = Buffer.from(publicKey, "base64url");
  const symmetric = await jwt("gateway").setProtectedHeader({ alg: "HS256", kid }).sign(shared);
  expect(await check(symmetric, NOW)).toContain('"alg"');
  const endless = await new SignJWT({})
    .setIssuer("gateway")
    .setAudience("posts")
    .setProtectedHeader(eddsa)
    .sign(key);
  expect(await check(endless, NOW)).toContain('missing required "exp" claim');
  expect(await check("x".repeat(2_000), NOW)).toContain("the token is too long");
});

test("a caller signs an identity token every 2.5 minutes, uses the old one until then, and signs again when its clock is set back", async () => {
  let at = NOW;
  const source = createIdentitySource(identities.of("gateway"), "posts", () => at);
  const first = await source();
  at = NOW + 2 * MINUTE;
  expect(source()).toBe(first);
  at = NOW + 3 * MINUTE;
  expect(source()).toBe(first);
  await expect.poll(() => source()).not.toBe(first);
  const second = source();
  at = NOW + 9 * MINUTE;
  const third = source();
  expect(third).toBeInstanceOf(Promise);
  expect(await third).not.toEqual(second);
  at = NOW - 60 * MINUTE;
  expect(await check((await source())[IDENTITY_HEADER], at)).toBe("gateway");
});
