import { expect, test } from "vitest";
import { connectionReason, hasNoAddress } from "./connection-failure.ts";

const coded = (code: string, more: object = {}) =>
  Object.assign(new Error(code), { code, ...more });

test.each([
  [coded("ECONNREFUSED"), "refuses"],
  [new AggregateError([coded("ECONNREFUSED"), coded("ENETUNREACH")]), "refuses"],
  [coded("CERT_HAS_EXPIRED"), "expired"],
  [coded("ERR_TLS_CERT_ALTNAME_INVALID"), "another name"],
  [coded("ERR_SSL_WRONG_VERSION_NUMBER"), "TLS"],
  [coded("CERT_SIGNATURE_FAILURE"), "not valid"],
])("the failure %o to connect has a reason that says %s", (cause, words) => {
  expect(connectionReason(new Error("unreachable", { cause }))).toContain(words);
});

test("a name without an address is told apart from a name server that does not answer", () => {
  const lookup = { syscall: "queryA" };
  expect(hasNoAddress(new Error("x", { cause: coded("ENOTFOUND", lookup) }))).toBe(true);
  expect(hasNoAddress(new Error("x", { cause: coded("ECONNREFUSED", lookup) }))).toBe(false);
  expect(
    connectionReason(new Error("x", { cause: coded("ECONNREFUSED", lookup) })),
  ).toBeUndefined();
  expect(hasNoAddress(coded("ECONNREFUSED"))).toBe(false);
});
