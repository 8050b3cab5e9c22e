import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { pino } from "pino";
import { expect, test } from "vitest";
import { loadConfig } from "#src/config.ts";
import { connectPeer } from "#src/connect/client.ts";
import { addPlainRoutes } from "#src/connect/plain-routes.ts";
import { createServiceServer } from "#src/connect/server.ts";
import { createAccess } from "./access.ts";
import { makeIdentityKey } from "./identity-keys.ts";
import { readIdentity, readTrustConfig } from "./settings.ts";
import { createIdentitySource } from "./token-source.ts";

const OLD = makeIdentityKey();
const NEW = makeIdentityKey();
const SECRET = "s".repeat(32);
const METHOD = `${PostService.typeName}/GetPost`;
const logger = pino({ level: "silent" });

/**
 * Starts a process that is both a caller named `gateway` and the called service, with these
 * settings.
 */
async function startProcess(env: Readonly<Record<string, string>>) {
  const { identity, ...trust } = loadConfig(env, (read) => ({
    identity: readIdentity(read, "gateway"),
    ...readTrustConfig(read),
  }));
  const callers = { [METHOD]: ["gateway"] };
  const access = createAccess({ service: "posts", callers, logger, ...trust });
  const app = await createServiceServer({
    access,
    logger,
    routes: (router) => router.service(PostService, { getPost: () => ({ post: { id: "p" } }) }),
  });
  await addPlainRoutes(app, {
    access,
    logger,
    routes: (plain) => plain.get("/bytes", { config: { callers: ["gateway"] } }, () => "bytes"),
  });
  const baseUrl = await app.listen({ host: "127.0.0.1", port: 0 });
  return { identity, baseUrl, [Symbol.asyncDispose]: () => app.close() };
}

type Process = Awaited<ReturnType<typeof startProcess>>;

/**
 * Whether the process `to` accepts calls of the process `from`: by our own client, by Connect's
 * client, and by plain HTTP.
 */
async function answers({ identity }: Process, { baseUrl }: Process): Promise<readonly boolean[]> {
  const headers = await createIdentitySource(identity, "posts")();
  await using peer = connectPeer({ service: "posts", baseUrl, identity });
  const stock = createClient(PostService, createConnectTransport({ baseUrl, httpVersion: "1.1" }));
  const calls = await Promise.allSettled([
    peer.client(PostService).getPost({ id: "p" }),
    stock.getPost({ id: "p" }, { headers }),
    fetch(`${baseUrl}/bytes`, { headers }).then((answer) => {
      if (!answer.ok) throw new Error("refused");
    }),
  ]);
  return calls.map(({ status }) => status === "fulfilled");
}

/**
 * Checks the steps of a key rotation: processes that are one step apart accept each other's calls,
 * and a process in the first step and one in the last step do not.
 */
async function expectSteps(steps: readonly Process[]): Promise<void> {
  for (const [index, next] of steps.entries()) {
    const one = steps[index - 1];
    if (one === undefined) continue;
    expect(await answers(one, next)).toEqual([true, true, true]);
    expect(await answers(next, one)).toEqual([true, true, true]);
  }
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return;
  expect(await answers(first, last)).toEqual([false, false, false]);
  expect(await answers(last, first)).toEqual([false, false, false]);
}

const trusting = (...keys: readonly { readonly publicKey: string }[]) =>
  keys.map(({ publicKey }) => `gateway:${publicKey}`).join(",");

test("the key of an identity can be rotated in three steps, and processes one step apart accept each other's calls", async () => {
  const both = trusting(OLD, NEW);
  await using before = await startProcess({
    IDENTITY_KEYS: OLD.privateKey,
    TRUSTED_IDENTITIES: trusting(OLD),
  });
  await using accepting = await startProcess({
    IDENTITY_KEYS: `${OLD.privateKey},${NEW.privateKey}`,
    TRUSTED_IDENTITIES: both,
  });
  await using sending = await startProcess({
    IDENTITY_KEYS: `${NEW.privateKey},${OLD.privateKey}`,
    TRUSTED_IDENTITIES: both,
  });
  await using after = await startProcess({
    IDENTITY_KEYS: NEW.privateKey,
    TRUSTED_IDENTITIES: trusting(NEW),
  });
  await expectSteps([before, accepting, sending, after]);
});

test("a caller without an identity token is refused, although it sends the shared secret that early versions accepted from every caller", async () => {
  await using process = await startProcess({
    IDENTITY_KEYS: OLD.privateKey,
    TRUSTED_IDENTITIES: trusting(OLD),
    INTERNAL_SECRET: SECRET,
  });
  const { baseUrl } = process;
  const headers = { authorization: `Bearer ${SECRET}` };
  const stock = createClient(PostService, createConnectTransport({ baseUrl, httpVersion: "1.1" }));
  await expect(stock.getPost({ id: "p" }, { headers })).rejects.toMatchObject({
    code: Code.Unauthenticated,
  });
  expect((await fetch(`${baseUrl}/bytes`, { headers })).status).toBe(401);
  expect(await createIdentitySource(process.identity, "posts")()).not.toHaveProperty(
    "authorization",
  );
});
