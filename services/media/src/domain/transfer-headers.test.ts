import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { DigestCheck, parseContentDigest, parseRangeHeader } from "./transfer-headers.ts";

test.each([
  ["bytes=0-0", { start: 0, length: 1 }],
  ["bytes=0-99", { start: 0, length: 100 }],
  ["bytes=90-", { start: 90, length: 10 }],
  ["bytes=90-1000", { start: 90, length: 10 }],
  ["bytes=-10", { start: 90, length: 10 }],
  ["bytes=-1000", { start: 0, length: 100 }],
  ["Bytes=5-6", { start: 5, length: 2 }],
])("the Range header %s selects the expected bytes of a 100-byte object", (header, part) => {
  expect(parseRangeHeader(header, 100)).toEqual(part);
});

test.each(["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"])(
  "the Range header %s cannot be satisfied for a 100-byte object",
  (header) => {
    expect(parseRangeHeader(header, 100)).toBe("unsatisfiable");
  },
);

test.each([
  undefined,
  "",
  "bytes=",
  "bytes=-",
  "bytes=5-4",
  "bytes=0-1,5-6",
  "bytes=a-b",
  "items=0-1",
  "bytes=1.5-2",
])("the malformed or unsupported Range header %s is ignored", (header) => {
  expect(parseRangeHeader(header, 100)).toBeUndefined();
});

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
