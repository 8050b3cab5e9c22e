import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
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

describe("a body", () => {
  test.each([
    ["sha-256", member("sha-256", "sha256")],
    ["sha-512", member("sha-512", "sha512")],
    ["both", `${member("sha-256", "sha256")}, ${member("sha-512", "sha512")}`],
    ["an algorithm that nobody knows beside one", `md5=:aGk=:,${member("sha-256", "sha256")}`],
    ["only an algorithm that nobody knows", "unixsum=:GQU=:"],
    ["a parameter", `${member("sha-256", "sha256")};a=1`],
  ])("agrees with its digest: %s", (_, header) => {
    expect(matches(header, [body.subarray(0, 2), body.subarray(2)])).toBe(true);
    expect(matches(header, [Buffer.from("hellO")])).toBe(header.startsWith("unixsum"));
  });

  test("agrees only when every digest does", () => {
    const other = `sha-512=:${createHash("sha512").update("other").digest("base64")}:`;

    expect(matches(`${member("sha-256", "sha256")}, ${other}`, [body])).toBe(false);
  });

  test.each([
    ["empty", ""],
    ["no byte sequence", "sha-256=abc"],
    ["hexadecimal", `sha-256=${createHash("sha256").update(body).digest("hex")}`],
    ["too short for its algorithm", "sha-256=:aGVsbG8=:"],
    ["a comma too many", `${member("sha-256", "sha256")},`],
    ["upper case", member("SHA-256", "sha256")],
  ])("has no digest that can be read: %s", (_, header) => {
    expect(parseContentDigest(header)).toBeUndefined();
  });
});
