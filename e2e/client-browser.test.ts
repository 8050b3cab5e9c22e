import { readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { listen } from "@postrider/shared/testing/listen";
import { afterAll, expect, test } from "vitest";
import { installClient } from "../scripts/client-package/list-runtimes.ts";
import { launchBrowser } from "./support/observers/browser.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

/**
 * Runs the packed client in a browser without a bundler. The server of the web page forwards
 * requests to the gateway and adds the API key, which a web page must not contain.
 */

const folder = installClient();
const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const tenant = await openTenant(system);
const bluesky = await tenant.connect("bluesky");
const server = createServer((request, response) => {
  answer(request).then(
    async (given) => {
      const headers = { "content-type": given.headers.get("content-type") ?? "text/plain" };
      response.writeHead(given.status, headers).end(await given.text());
    },
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
const { url: origin, ...listening } = await listen(server);
afterAll(async () => {
  await browser.close();
  await listening[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function answer(request: IncomingMessage): Promise<Response> {
  const path = request.url ?? "";
  if (path === "/")
    return new Response("<!doctype html>", { headers: { "content-type": "text/html" } });
  if (path.startsWith("/client/")) {
    const file = join(folder, "node_modules/@postrider", path);
    return new Response(readFileSync(file), { headers: { "content-type": "text/javascript" } });
  }
  return await passOn(request, path);
}

/**
 * Forwards a request to the gateway. Upload URLs in the answer are rewritten to this server,
 * because the page may load only from it.
 */
async function passOn(request: IncomingMessage, path: string): Promise<Response> {
  const { baseUrl } = system.local();
  const { method = "", headers } = request;
  const body = await buffer(request);
  const given = await fetch(baseUrl + path, {
    method,
    headers: {
      "content-type": headers["content-type"] ?? "application/json",
      ...(path.startsWith("/api/") ? { authorization: `Bearer ${tenant.key}` } : {}),
    },
    ...(body.length === 0 ? {} : { body }),
  });
  const text = (await given.text()).replaceAll(baseUrl, origin);
  return new Response(given.status === 204 ? null : text, given);
}

test("a web page uploads a selected file with progress, publishes it, and reads error codes with the client", async () => {
  const page = await browser.newPage();
  await page.goto(origin);
  const picture = Buffer.from(sampleJpeg()).toString("base64");
  const program = `(async () => {
    const { createClient, PostriderError } = await import("/client/src/client.js");
    const client = createClient({ baseUrl: location.origin, apiKey: "of the server" });
    const bytes = Uint8Array.from(atob("${picture}"), (character) => character.charCodeAt(0));
    const file = new File([bytes], "picture.jpg", { type: "image/jpeg" });
    let sent;
    const onProgress = (progress) => { sent = progress; };
    const { id, contentType } = await client.uploadFile(file, { onProgress });
    const { id: postId } = await client.createPost({
      content: "From a page", accountIds: ["${bluesky}"], mediaIds: [id],
    });
    const { status } = await client.waitForPost(postId);
    const error = await client.publishPost(postId).catch((error) => error);
    return { sent, contentType, status, isError: error instanceof PostriderError, code: error.code };
  })()`;
  const total = sampleJpeg().length;
  expect(await page.evaluate(program)).toEqual({
    sent: { sentBytes: total, totalBytes: total },
    contentType: "image/jpeg",
    status: "published",
    isError: true,
    code: "invalid_transition",
  });
  expect(await tenant.countVisible("From a page")).toBe(1);
});

test("a web page verifies webhook events with the client and WebCrypto", async () => {
  const page = await browser.newPage();
  await page.goto(origin);
  const program = `(async () => {
    const { verifyWebhook } = await import("/client/src/webhooks.js");
    const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
    const time = String(Math.floor(Date.now() / 1000));
    const content = new TextEncoder().encode("id." + time + ".{}");
    const verify = async (algorithm, keys, shown, prefix, version) => {
      const signature = base64(await crypto.subtle.sign(algorithm, keys.privateKey ?? keys, content));
      const secret = prefix + base64(await crypto.subtle.exportKey("raw", shown));
      const headers = { "webhook-id": "id", "webhook-timestamp": time, "webhook-signature": version + signature };
      return JSON.stringify(await verifyWebhook("{}", headers, secret));
    };
    const hmac = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign"]);
    const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
    return [
      await verify("HMAC", hmac, hmac, "whsec_", "v1,"),
      await verify("Ed25519", pair, pair.publicKey, "whpk_", "v1a,"),
    ];
  })()`;
  expect(await page.evaluate(program)).toEqual(["{}", "{}"]);
});
