import { expect, test } from "vitest";
import { EnvReader } from "#src/config.ts";
import { OutboundClient } from "./outbound-client.ts";
import { OutboundError } from "./outbound-error.ts";
import { mayConnect, readOutboundRules } from "./outbound-rules.ts";
import { parseOutboundUrl } from "./outbound-url.ts";

const rules = (env: Readonly<Record<string, string>>) => readOutboundRules(new EnvReader(env));

test("by default a customer's URL may lead to every port of every public address", () => {
  const none = rules({});
  expect(none).toEqual({ allow: [], deny: [], ports: [] });
  expect(mayConnect(none, "203.0.112.7", 8443)).toBe(true);
  expect(mayConnect(none, "10.0.0.1", 443)).toBe(false);
});

test("OUTBOUND_DENY refuses addresses and networks of both IP versions, in every notation, also if OUTBOUND_ALLOW names them", () => {
  const denied = rules({
    OUTBOUND_DENY: "198.41.0.4, 93.184.0.0/16,2606:4700::/32",
    OUTBOUND_ALLOW: "93.184.1.1:80",
  });
  for (const address of ["198.41.0.4", "::ffff:198.41.0.4", "93.184.1.1", "2606:4700:10::1"])
    expect(mayConnect(denied, address, 80), address).toBe(false);
  for (const address of ["198.41.0.5", "93.185.0.1", "2606:4701::1"])
    expect(mayConnect(denied, address, 80), address).toBe(true);
  for (const url of ["http://93.184.216.34/", "http://0x5db8d822/", "http://[2606:4700::1111]/"])
    expect(() => parseOutboundUrl(url, denied), url).toThrow(OutboundError);
});

test("OUTBOUND_DENY refuses a host name whose DNS answer is in a denied network", async () => {
  const denied = rules({ OUTBOUND_DENY: "93.184.0.0/16" });
  const resolve = () => Promise.resolve(["93.184.216.34"]);
  const client = new OutboundClient({ ...denied, resolve });
  const request = { method: "GET", url: "http://own.example.com/", totalMs: 1_000, maxBytes: 1 };
  await expect(client.send({ ...request, method: "GET" })).rejects.toMatchObject({
    failure: "address_not_allowed",
  });
});

test("OUTBOUND_PORTS limits the ports of public addresses, and each entry of OUTBOUND_ALLOW names the ports of its address", () => {
  const limited = rules({ OUTBOUND_PORTS: "443, 8000-8002", OUTBOUND_ALLOW: "127.0.0.1:9000" });
  const allowed = [80, 443, 7999, 8000, 8002, 8003, 9000];
  expect(allowed.filter((port) => mayConnect(limited, "93.184.216.34", port))).toEqual([
    443, 8000, 8002,
  ]);
  expect(mayConnect(limited, "127.0.0.1", 9000)).toBe(true);
  expect(mayConnect(limited, "127.0.0.1", 443)).toBe(false);
});

test.each([
  ["OUTBOUND_DENY", "10.0.0.0/33"],
  ["OUTBOUND_DENY", "0177.0.0.1"],
  ["OUTBOUND_DENY", "example.com"],
  ["OUTBOUND_DENY", "::/129"],
  ["OUTBOUND_PORTS", "0"],
  ["OUTBOUND_PORTS", "70000"],
  ["OUTBOUND_PORTS", "9-8"],
  ["OUTBOUND_PORTS", "http"],
])("the setting %s refuses the invalid entry %s", (name, entry) => {
  const reader = new EnvReader({ [name]: entry });
  readOutboundRules(reader);
  expect(reader.faults).toEqual([expect.stringContaining(`: ${entry}`)]);
});
