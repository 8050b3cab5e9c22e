import { expect, test } from "vitest";
import { toScramVerifier } from "./service-role.ts";

test("toScramVerifier returns the keys of the example exchange in RFC 7677", () => {
  const salt = Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64");
  // RFC 7677 does not show the two keys in this text, only proofs that were computed from these
  // keys. Another implementation has confirmed that the keys lead to the proofs of the RFC.
  expect(toScramVerifier("pencil", salt)).toBe(
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
  );
});

test("toScramVerifier uses a new salt for each call, and its result does not contain the password", () => {
  const first = toScramVerifier("a password");
  expect(toScramVerifier("a password")).not.toBe(first);
  expect(first).toMatch(/^SCRAM-SHA-256\$4096:[\w+/]{22}==\$[\w+/]{43}=:[\w+/]{43}=$/);
});
