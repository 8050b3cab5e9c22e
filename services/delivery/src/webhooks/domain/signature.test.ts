import { createPublicKey, generateKeyPairSync, randomBytes, verify } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { createSigner, toSignedHeaders } from "./signature.ts";

const NOW = Math.floor(Date.now() / 1000);

function createSecret(bytes = randomBytes(32)): string {
  return `whsec_${bytes.toString("base64")}`;
}

/**
 * Creates an Ed25519 key pair in the form of Standard Webhooks: `whsk_` with both keys, `whpk_`
 * with the public one.
 */
function createKeyPair() {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const seed = privateKey.export({ format: "der", type: "pkcs8" }).subarray(-32);
  const open = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  return {
    secret: `whsk_${Buffer.concat([seed, open]).toString("base64")}`,
    seed: `whsk_${seed.toString("base64")}`,
    publicKey: `whpk_${open.toString("base64")}`,
  };
}

/**
 * The subject public key info of an Ed25519 key in DER, up to the 32 bytes of the key (RFC 8410,
 * section 4).
 */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/** Verifies the `v1a` signatures of a webhook delivery with a public key, as a receiver does. */
function isSignedBy(whpk: string, headers: Readonly<Record<string, string>>, body: string) {
  const der = Buffer.concat([SPKI_PREFIX, Buffer.from(whpk.slice("whpk_".length), "base64")]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  const content = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  return (headers["webhook-signature"] ?? "").split(" ").some((signature) => {
    const [version, encoded = ""] = signature.split(",");
    return (
      version === "v1a" && verify(null, Buffer.from(content), key, Buffer.from(encoded, "base64"))
    );
  });
}

const deliveries = fc.record({
  id: fc.uuid(),
  timestamp: fc.integer({ min: NOW - 200, max: NOW + 200 }),
  body: fc.json(),
});

test("the npm package standardwebhooks verifies 1,000 webhook deliveries with each of the secrets that sign them during 5 rotations", () => {
  const keys = fc.array(fc.uint8Array({ minLength: 24, maxLength: 64 }), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(deliveries, keys, ({ id, timestamp, body }, secretKeys) => {
      const secrets = secretKeys.map((key) => createSecret(Buffer.from(key)));
      const message = { id, timestamp, body: Buffer.from(body) };
      const headers = toSignedHeaders(secrets.map(createSigner), message);
      for (const secret of secrets)
        expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    }),
    { numRuns: 1_000 },
  );
});

test("the npm package standardwebhooks refuses a webhook delivery whose body, id, timestamp or secret differs", () => {
  const secret = createSecret();
  const body = '{"a":1}';
  const message = { id: "msg", timestamp: NOW, body: Buffer.from(body) };
  const headers = toSignedHeaders([createSigner(secret)], message);
  const webhook = new Webhook(secret);
  expect(webhook.verify(body, headers)).toEqual({ a: 1 });
  expect(() => webhook.verify('{"a":2}', headers)).toThrow("No matching signature found");
  expect(() => webhook.verify(body, { ...headers, "webhook-id": "other" })).toThrow(
    "No matching signature found",
  );
  expect(() => webhook.verify(body, { ...headers, "webhook-timestamp": String(NOW + 1) })).toThrow(
    "No matching signature found",
  );
  expect(() => new Webhook(createSecret()).verify(body, headers)).toThrow(
    "No matching signature found",
  );
});

test("only the newest five of six secrets sign a webhook delivery", () => {
  const secrets = Array.from({ length: 6 }, () => createSecret());
  const message = { id: "msg", timestamp: NOW, body: Buffer.from("{}") };
  const headers = toSignedHeaders(secrets.map(createSigner), message);
  expect(headers["webhook-signature"]?.split(" ")).toHaveLength(5);
  expect(() => new Webhook(secrets[0] ?? "").verify("{}", headers)).not.toThrow();
  expect(() => new Webhook(secrets[5] ?? "").verify("{}", headers)).toThrow(
    "No matching signature found",
  );
});

test("the public key of a webhook subscription verifies the Ed25519 signatures of this subscription and no others", () => {
  const [pair, other] = [createKeyPair(), createKeyPair()];
  fc.assert(
    fc.property(deliveries, ({ id, timestamp, body }) => {
      const message = { id, timestamp, body: Buffer.from(body) };
      const headers = toSignedHeaders([createSigner(pair.secret)], message);
      expect(headers["webhook-signature"]).toMatch(/^v1a,[A-Za-z0-9+/]{86}==$/);
      expect(isSignedBy(pair.publicKey, headers, body)).toBe(true);
      expect(isSignedBy(pair.publicKey, headers, `${body} `)).toBe(false);
      expect(isSignedBy(other.publicKey, headers, body)).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

test("an Ed25519 secret that contains only the private key signs like one that contains both keys", () => {
  const { secret, seed } = createKeyPair();
  const message = { id: "msg", timestamp: NOW, body: Buffer.from("{}") };
  expect(createSigner(seed).sign(message)).toBe(createSigner(secret).sign(message));
});

test.each(["", "whsec_", "whsec_!", "whsk_YWJj", "whpk_YWJj", "YWJj"])(
  "the text %j is refused as a signing secret, with a message that does not contain the text",
  (text) => {
    expect(() => createSigner(text)).toThrow("has an unknown form");
  },
);
