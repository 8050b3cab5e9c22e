import { generateKeyPairSync, sign } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { verifyWebhook } from "./webhooks.ts";

const ID = "01a1a1c2-0f3a-7b4c-8d5e-6f708192a3b4";
const AT = new Date("2026-11-23T12:00:00.000Z");
const SECONDS = String(AT.getTime() / 1000);
const BODY = JSON.stringify({ id: ID, type: "post.deleted", data: { id: "고양이" } });
const SECRET = `whsec_${Buffer.from("a".repeat(32)).toString("base64")}`;
const OTHER = `whsec_${Buffer.from("b".repeat(32)).toString("base64")}`;
const now = AT.getTime();

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const PUBLIC = `whpk_${publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64")}`;
const ed25519 = (body = BODY) =>
  `v1a,${sign(null, Buffer.from(`${ID}.${SECONDS}.${body}`), privateKey).toString("base64")}`;
const hmac = (secret = SECRET, body = BODY) => new Webhook(secret).sign(ID, AT, body);

const headersWith = (signature: string) => ({
  "webhook-id": ID,
  "webhook-timestamp": SECONDS,
  "webhook-signature": signature,
});

describe("webhook events that are accepted:", () => {
  test.each([
    ["HMAC", hmac(), SECRET],
    ["Ed25519", ed25519(), PUBLIC],
    ["the older secret during a rotation, at the sender", `${hmac(OTHER)} ${hmac()}`, SECRET],
    ["one of several secrets, at the receiver", hmac(), [OTHER, PUBLIC, SECRET]],
    ["one of both schemes", `${hmac(OTHER)} v2,AAAA v1,? ${ed25519()}`, [SECRET, PUBLIC]],
  ])("an event with a signature by %s is verified and returned", async (_, signature, secrets) => {
    const event = await verifyWebhook(BODY, headersWith(signature), secrets, { now });
    expect(event).toEqual(JSON.parse(BODY));
  });

  test.each([
    ["Headers", new Headers(headersWith(hmac()))],
    [
      "an object with names in capitals",
      { "Webhook-Id": ID, "Webhook-Timestamp": SECONDS, "Webhook-Signature": hmac() },
    ],
  ])("the headers of an event can be %s, and its body can be bytes", async (_, headers) => {
    const body = new TextEncoder().encode(BODY);
    expect(await verifyWebhook(body, headers, SECRET, { now })).toMatchObject({ id: ID });
  });

  test.each([-300_000, 300_000])(
    "an event whose time is %i ms from the clock is within the default tolerance",
    async (difference) => {
      const options = { now: now + difference };
      await verifyWebhook(BODY, headersWith(hmac()), SECRET, options);
    },
  );
});

describe("requests that are refused:", () => {
  test.each([
    ["the body was changed", hmac(SECRET, `${BODY} `), SECRET],
    ["the body was changed (Ed25519)", ed25519(`${BODY} `), PUBLIC],
    ["another secret signed it", hmac(OTHER), SECRET],
    ["an HMAC signature is passed off as Ed25519", hmac().replace("v1,", "v1a,"), PUBLIC],
    ["an Ed25519 signature is passed off as HMAC", ed25519().replace("v1a,", "v1,"), SECRET],
    ["the signature is cut", hmac().slice(0, -4), SECRET],
    ["the signature is not base64", "v1,!", SECRET],
    ["the signature has another version", hmac().replace("v1,", "v2,"), SECRET],
    ["there is no secret", hmac(), []],
  ])("verifyWebhook refuses a request as wrongly signed when %s", async (_, signature, secrets) => {
    const verified = verifyWebhook(BODY, headersWith(signature), secrets, { now });
    await expect(verified).rejects.toMatchObject({
      name: "WebhookVerificationError",
      code: "wrong_signature",
    });
  });

  test("verifyWebhook refuses a request whose signature was made for the id of another event", async () => {
    const headers = { ...headersWith(hmac()), "webhook-id": "other" };
    const verified = verifyWebhook(BODY, headers, SECRET, { now });
    await expect(verified).rejects.toMatchObject({ code: "wrong_signature" });
  });

  test.each([
    ["too old", SECONDS, 301_000],
    ["in the future", SECONDS, -301_000],
    ["not a number", "soon", 0],
    ["empty of digits", " 1", 0],
  ])("verifyWebhook refuses a request when its time is %s", async (_, timestamp, difference) => {
    const headers = { ...headersWith(hmac()), "webhook-timestamp": timestamp };
    const verified = verifyWebhook(BODY, headers, SECRET, { now: now + difference });
    await expect(verified).rejects.toMatchObject({ code: "wrong_time" });
  });

  test.each(["webhook-id", "webhook-timestamp", "webhook-signature"])(
    "verifyWebhook refuses a request without the header %s",
    async (name) => {
      const headers = { ...headersWith(hmac()), [name]: undefined };
      const verified = verifyWebhook(BODY, headers, SECRET, { now });
      await expect(verified).rejects.toMatchObject({ code: "missing_header" });
    },
  );

  test.each(["", "secret", "whsec_", "whpk_YWJj", "whsec_!"])(
    "verifyWebhook refuses the text %j as a secret",
    async (secret) => {
      const verified = verifyWebhook(BODY, headersWith(hmac()), [secret, SECRET], { now });
      await expect(verified).rejects.toMatchObject({ code: "unknown_secret" });
    },
  );

  test("verifyWebhook refuses a signed body that is not JSON", async () => {
    const verified = verifyWebhook("<html>", headersWith(hmac(SECRET, "<html>")), SECRET, { now });
    await expect(verified).rejects.toMatchObject({ code: "invalid_body" });
  });
});
