import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { DigestCheck, parseContentDigest } from "#src/domain/content-digest.ts";

const body = Buffer.from("hello");
const member = (name: string, algorithm: string): string =>
  `${name}=:${createHash(algorithm).update(body).digest("base64")}:`;

function matches(header: string, chunks: readonly Uint8Array[]): boolean | undefined {
  const digests = parseContentDigest(header);
  if (digests === undefined) return undefined;
  const check = new DigestCheck(digests);
  for (const chunk of chunks) check.update(chunk);
  return check.matches();
}

test.each([
  ["sha-256", member("sha-256", "sha256")],
  ["sha-512", member("sha-512", "sha512")],
  ["sha-256 and sha-512", `${member("sha-256", "sha256")}, ${member("sha-512", "sha512")}`],
  ["an unknown algorithm beside a known one", `md5=:aGk=:,${member("sha-256", "sha256")}`],
  ["only an unknown algorithm", "unixsum=:GQU=:"],
  ["a digest with a parameter", `${member("sha-256", "sha256")};a=1`],
])(
  "a Content-Digest header with %s matches the body from which the digest was computed",
  (_, header) => {
    expect(matches(header, [body.subarray(0, 2), body.subarray(2)])).toBe(true);
    expect(matches(header, [Buffer.from("hellO")])).toBe(header.startsWith("unixsum"));
  },
);

test("a Content-Digest header with several digests matches only if all of them match", () => {
  const other = `sha-512=:${createHash("sha512").update("other").digest("base64")}:`;

  expect(matches(`${member("sha-256", "sha256")}, ${other}`, [body])).toBe(false);
});

test.each([
  ["is empty", ""],
  ["contains no byte sequence", "sha-256=abc"],
  ["is hexadecimal", `sha-256=${createHash("sha256").update(body).digest("hex")}`],
  ["is too short for its algorithm", "sha-256=:aGVsbG8=:"],
  ["ends with a comma", `${member("sha-256", "sha256")},`],
  ["has an upper-case algorithm", member("SHA-256", "sha256")],
])("a Content-Digest header that %s is treated as malformed", (_, header) => {
  expect(parseContentDigest(header)).toBeUndefined();
});
