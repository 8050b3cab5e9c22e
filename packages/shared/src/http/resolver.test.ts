import { createSocket } from "node:dgram";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNameResolver } from "#src/http/resolver.ts";

const A = 1;
const AAAA = 28;
const NXDOMAIN = 3;

/**
 * The records of the test's name server by host name and type. The server does not answer queries
 * for host names that begin with `silent`.
 */
const RECORDS: Readonly<Record<string, Readonly<Record<number, readonly (readonly number[])[]>>>> =
  {
    "both.example.com": {
      [A]: [
        [93, 184, 215, 14],
        [10, 0, 0, 1],
      ],
      [AAAA]: [[0x20, 0x01, ...Array.from({ length: 13 }, () => 0), 1]],
    },
    "four.example.com": { [A]: [[8, 8, 8, 8]] },
  };

function readName(message: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join("."), end: at + 5 };
}

function answer(query: Buffer): Buffer | undefined {
  const { name, end } = readName(query);
  if (name.startsWith("silent")) return undefined;
  const known = RECORDS[name];
  const records = known?.[query.readUInt16BE(end - 4)] ?? [];
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x81_80 | (known === undefined ? NXDOMAIN : 0), 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt16BE(0, 8);
  header.writeUInt16BE(0, 10);
  const type = query.subarray(end - 4, end - 2);
  const rows = records.map((bytes) =>
    Buffer.concat([
      Buffer.from([0xc0, 12]),
      type,
      Buffer.from([0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
    ]),
  );
  return Buffer.concat([header, query.subarray(12, end), ...rows]);
}

const server = createSocket("udp4", (query, from) => {
  const reply = answer(query);
  if (reply !== undefined) server.send(reply, from.port, from.address);
});
let resolve: ReturnType<typeof createNameResolver>;

beforeAll(async () => {
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
  resolve = createNameResolver([`127.0.0.1:${server.address().port}`]);
});
afterAll(async () => {
  server.close();
  await once(server, "close");
});

const never = new AbortController().signal;

test("the DNS resolver returns all IPv4 and IPv6 addresses of a host name", async () => {
  expect(await resolve("both.example.com", never)).toEqual([
    "93.184.215.14",
    "10.0.0.1",
    "2001::1",
  ]);
  expect(await resolve("four.example.com", never)).toEqual(["8.8.8.8"]);
});

test("the DNS resolver fails for a host name that does not exist", async () => {
  await expect(resolve("none.example.com", never)).rejects.toThrow("no address");
});

test("the DNS resolver stops waiting for a name server when the caller's signal aborts", async () => {
  const started = performance.now();
  await expect(resolve("silent.example.com", AbortSignal.timeout(100))).rejects.toThrow(
    "no address",
  );
  expect(performance.now() - started).toBeLessThan(1500);
});
