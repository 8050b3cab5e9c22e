import { expect, test } from "vitest";
import { EnvReader } from "#src/config.ts";
import {
  type AllowedAddress,
  isPublicAddress,
  parseAllowedAddress,
  readOutboundAllow,
} from "#src/http/addresses.ts";
import { OutboundClient } from "./outbound-client.ts";
import { OutboundError } from "./outbound-exchange.ts";
import { mayConnect, parseOutboundUrl, readOutboundRules } from "./outbound-rules.ts";

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

function failureOf(url: string, allow: readonly AllowedAddress[] = []): string {
  try {
    return parseOutboundUrl(url, { allow }).hostname;
  } catch (error) {
    if (error instanceof OutboundError) return error.failure;
    throw error;
  }
}

const REFUSED = [
  // Loopback addresses, in every notation that browsers accept.
  "http://127.0.0.1/",
  "http://127.1/",
  "http://127.255.255.254/",
  "http://2130706433/",
  "http://017700000001/",
  "http://0177.0.0.1/",
  "http://0x7f000001/",
  "http://0x7f.0.0.1/",
  "http://0x7F.1/",
  "http://127.0.0.1./",
  "http://127.0.0.1:8080/",
  "https://127.0.0.1:443/",
  "http://１２７.０.０.１/",
  "http://127。0。0。1/",
  "http://①②⑦.⓪.⓪.①/",
  "http://%31%32%37.0.0.1/",
  "http://127.0.0.1%2e/",
  "http:127.0.0.1/",
  "http:\\\\127.0.0.1\\",
  "  http://127.0.0.1/  ",
  "ht\ntp://127.0.0.1/",
  "http://[::1]/",
  "http://[0:0:0:0:0:0:0:1]/",
  "http://[0000:0000::0001]/",
  "http://localhost/",
  "http://LOCALHOST/",
  "http://localhost./",
  "http://lOcAlHoSt:3000/",
  "http://app.localhost/",
  "http://ｌｏｃａｌｈｏｓｔ/",
  "http://localhost.localdomain/",
  // unspecified
  "http://0/",
  "http://0.0.0.0/",
  "http://0.1.2.3/",
  "http://[::]/",
  // Private, shared and link-local addresses.
  "http://10.0.0.1/",
  "http://10.255.255.255/",
  "http://012.0.0.1/",
  "http://167772161/",
  "http://172.16.0.1/",
  "http://172.31.255.255/",
  "http://192.168.0.1/",
  "http://192.168.257/",
  "http://100.64.0.1/",
  "http://100.127.255.255/",
  "http://169.254.1.1/",
  "http://[fe80::1]/",
  "http://[febf::1]/",
  // Addresses of the metadata services of clouds.
  "http://169.254.169.254/latest/meta-data/",
  "http://2852039166/",
  "http://0xa9fea9fe/",
  "http://0251.0376.0251.0376/",
  "http://[::ffff:169.254.169.254]/",
  "http://[::ffff:a9fe:a9fe]/",
  "http://[fd00:ec2::254]/",
  "http://169.254.170.2/",
  "http://100.100.100.200/",
  "http://192.0.0.192/",
  "http://168.63.129.16/",
  "http://metadata.google.internal/",
  "http://metadata/",
  // IPv6 addresses that embed IPv4 addresses.
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[::ffff:10.0.0.1]/",
  "http://[::127.0.0.1]/",
  "http://[::ffff:0:127.0.0.1]/",
  "http://[64:ff9b::127.0.0.1]/",
  "http://[64:ff9b::a00:1]/",
  "http://[64:ff9b:1::10.0.0.1]/",
  "http://[2002:7f00:1::]/",
  "http://[2002:a9fe:a9fe::1]/",
  "http://[2001:0:7f00:1::]/",
  "http://[2001::1]/",
  // Unique local, site-local, multicast and unassigned IPv6 addresses.
  "http://[fc00::1]/",
  "http://[fdff:ffff::1]/",
  "http://[fec0::1]/",
  "http://[ff02::1]/",
  "http://[ff0e::1]/",
  "http://[4000::1]/",
  "http://[1::1]/",
  "http://[100::1]/",
  "http://[5f00::1]/",
  "http://[2001:db8::1]/",
  "http://[3fff::1]/",
  "http://[2001:10::1]/",
  "http://[2001:20::1]/",
  "http://[2001:2::1]/",
  "http://224.0.0.1/",
  "http://239.255.255.250/",
  "http://240.0.0.1/",
  "http://255.255.255.254/",
  "http://255.255.255.255/",
  "http://4294967295/",
  // Addresses that are reserved for documentation, benchmarks and relays.
  "http://192.0.2.1/",
  "http://198.51.100.1/",
  "http://203.0.113.1/",
  "http://198.18.0.1/",
  "http://198.19.255.255/",
  "http://192.0.0.1/",
  "http://192.88.99.1/",
  "http://192.31.196.1/",
  "http://192.52.193.1/",
  "http://192.175.48.1/",
  // Host names of private networks.
  "http://intranet/",
  "http://printer.local/",
  "http://printer.local./",
  "http://router.lan/",
  "http://db.internal/",
  "http://nas.home.arpa/",
  "http://posts.postrider.svc.cluster.local/",
  "http://wiki.corp/",
  // port 0
  "http://8.8.8.8:0/",
];

const INVALID = [
  "",
  "example.com",
  "//example.com/",
  "ftp://example.com/",
  "file:///etc/passwd",
  "gopher://example.com/",
  "data:image/png;base64,AA==",
  "javascript:alert(1)",
  "blob:https://example.com/1",
  "unix:/var/run/docker.sock",
  "http://",
  "http://./",
  "http://user@example.com/",
  "http://user:secret@example.com/",
  "http://:secret@example.com/",
  "http://example.com@127.0.0.1/",
  "http://127.0.0.1@example.com/",
  "http://example.com%40127.0.0.1/",
  "http://example.com:65536/",
  "http://example.com:-1/",
  "http://127.0.0.256/",
  "http://1.2.3.4.5/",
  "http://0x100000000/",
  "http://[::1/",
  "http://[::1%25eth0]/",
  "http://[v1.fe80::a]/",
  "http://exa mple.com/",
  "http://example.com\u0000.evil.com/",
  "http://a<b>.com/",
];

const GOOD = [
  ["http://8.8.8.8/", "8.8.8.8"],
  ["https://1.1.1.1:8443/a", "1.1.1.1"],
  ["http://134744072/", "8.8.8.8"],
  ["http://[2001:4860:4860::8888]/", "2001:4860:4860::8888"],
  ["https://[2606:4700:4700::1111]/", "2606:4700:4700::1111"],
  ["http://[::ffff:8.8.8.8]/", "::ffff:808:808"],
  ["https://example.com/a.png?x=1#y", "example.com"],
  ["https://EXAMPLE.com./a.png", "example.com"],
  ["http://cdn.example.co.kr:8080/", "cdn.example.co.kr"],
  ["https://bücher.example.com/", "xn--bcher-kva.example.com"],
  ["https://한국.kr/", "xn--3e0b707e.kr"],
  ["http://example.com:25/", "example.com"],
  ["http://127.0.0.1.nip.io/", "127.0.0.1.nip.io"],
  ["http://local.example.com/", "local.example.com"],
  ["http://172.15.255.255/", "172.15.255.255"],
  ["http://100.128.0.1/", "100.128.0.1"],
] as const;

test.each(REFUSED)("a customer's URL with an address that is not public is refused: %j", (url) => {
  expect(failureOf(url)).toBe("address_not_allowed");
});

test.each(INVALID)(
  "a customer's URL that is not an http(s) URL, or that contains a user name or a password, is invalid: %j",
  (url) => {
    expect(failureOf(url)).toBe("url_invalid");
  },
);

test.each(GOOD)("a customer's URL with a public address is accepted: %j", (url, hostname) => {
  expect(failureOf(url)).toBe(hostname);
});

test("a customer's URL without a port gets the default port of its scheme", () => {
  expect(parseOutboundUrl("http://example.com/", { allow: [] }).port).toBe(80);
  expect(parseOutboundUrl("https://example.com/", { allow: [] }).port).toBe(443);
  expect(parseOutboundUrl("https://example.com:8443/", { allow: [] }).port).toBe(8443);
});

test.each(["", "example.com", "8.8.8.8.", "fe80::1%eth0", "::ffff:10.0.0.1"])(
  "a DNS answer that is not a public IP address is refused: %j",
  (address) => {
    expect(isPublicAddress(address)).toBe(false);
  },
);

const allow = (text: string) => readOutboundAllow(new EnvReader({ OUTBOUND_ALLOW: text }));

test("OUTBOUND_ALLOW allows exactly the listed addresses and ports", () => {
  const allowed = allow("127.0.0.1:9000-9002, [fd00::1]:80 ,10.1.2.3:443");
  for (const url of [
    "http://127.0.0.1:9000/",
    "http://0x7f.1:9002/",
    "http://[::ffff:127.0.0.1]:9001/",
    "http://[fd00:0::1]/",
    "https://10.1.2.3/",
  ])
    expect(failureOf(url, allowed), url).not.toBe("address_not_allowed");
  for (const url of [
    "http://127.0.0.1:8999/",
    "http://127.0.0.1:9003/",
    "http://127.0.0.2:9000/",
    "http://[::1]:9000/",
    "http://[fd00::2]/",
    "https://[fd00::1]/",
    "http://10.1.2.3/",
    "http://localhost:9000/",
  ])
    expect(failureOf(url, allowed), url).toBe("address_not_allowed");
});

test("OUTBOUND_ALLOW is empty by default", () => {
  expect(readOutboundAllow(new EnvReader({}))).toEqual([]);
});

test.each([
  "127.0.0.1",
  "127.0.0.1:",
  "127.0.0.1:0",
  "127.0.0.1:70000",
  "127.0.0.1:9-8",
  "127.1:80",
  "0177.0.0.1:80",
  "10.0.0.0/8:80",
  "localhost:80",
  "::1:80",
  "*:80",
])("OUTBOUND_ALLOW refuses the ambiguous entry %j", (entry) => {
  expect(parseAllowedAddress(entry)).toBeUndefined();
  const reader = new EnvReader({ OUTBOUND_ALLOW: entry });
  readOutboundAllow(reader);
  expect(reader.faults).toEqual([`OUTBOUND_ALLOW is not ip:port or ip:port-port: ${entry}`]);
});
