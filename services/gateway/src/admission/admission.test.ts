import { randomBytes, randomUUID } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  AdmitResponseSchema,
  type AdmissionQuerySchema,
  type AdmitRequestSchema,
  type WorkspaceGrantSchema,
} from "@postrider/contracts/accounts/v1/admission_service_pb";
import type { Cells } from "@postrider/shared/config/cells";
import { formatApiKey, hashApiKey } from "@postrider/shared/secrets/api-keys";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { runInContext, findContext } from "@postrider/shared/telemetry/request-context";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AdmissionResult } from "#src/admission/admission-result.ts";
import { type Admission, createAdmission } from "#src/admission/admission.ts";

const ADDRESS = "192.0.2.1";
const WORKSPACE = "019a0000-0000-7000-8000-000000000001";
const OTHER_WORKSPACE = "019a0000-0000-7000-8000-000000000002";
const STRANGE_WORKSPACE = "019a0000-0000-7000-8000-000000000003";
const logger = createLogger({ service: "gateway", level: "silent" });

type Query = MessageInitShape<typeof AdmissionQuerySchema>;
type Grant = MessageInitShape<typeof WorkspaceGrantSchema>;

interface StoredKey {
  readonly workspaceIds: readonly string[];
  readonly expiresAt?: number;
}

interface Bucket {
  capacity: number;
  tokens: number;
  at: number;
}

/**
 * Simulates the API keys and token buckets of the accounts service, which
 * `services/accounts/test/concurrency.test.ts` tests in SQL. It answers after `latencyMs` of the
 * test's clock.
 */
class TestAccounts {
  readonly keys = new Map<string, StoredKey>();
  readonly calls: Query[][] = [];
  readonly contexts: unknown[] = [];
  readonly buckets = new Map<string, Bucket>();
  /** Ids of the workspaces that are not verified. */
  readonly unverified = new Set<string>();
  /** Share of the bucket from whose top requests are granted for which no request waits. */
  topShare = 1 / 20;
  latencyMs = 0;
  knownCells: string[] = [];
  /** `refusing`: a call fails. `losing`: a call is carried out, and its answer is lost. */
  state: "up" | "refusing" | "losing" = "up";

  readonly client = {
    admit: async (request: MessageInitShape<typeof AdmitRequestSchema>) => {
      const queries = request.queries ?? [];
      this.calls.push(queries);
      this.contexts.push(findContext());
      const { state, latencyMs } = this;
      const response = state === "refusing" ? {} : this.#answer(queries);
      if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
      if (state !== "up") throw new Error("no connection");
      return create(AdmitResponseSchema, response);
    },
  };

  addKey(stored: Partial<StoredKey> = {}, key = newKey()): string {
    this.keys.set(hashApiKey(key).toString("hex"), { workspaceIds: [WORKSPACE], ...stored });
    return key;
  }

  revoke(key: string): void {
    this.keys.delete(hashApiKey(key).toString("hex"));
  }

  setBucket(workspaceId: string, capacity: number, tokens = capacity): void {
    this.buckets.set(workspaceId, { capacity, tokens, at: Date.now() });
  }

  #answer(queries: readonly Query[]): MessageInitShape<typeof AdmitResponseSchema> {
    const wants = new Map<string, number>();
    const answers = queries.map(({ keyHash, workspaceId, want = 0 }) => {
      const id = Buffer.from(keyHash ?? []).toString("hex");
      const key = this.keys.get(id);
      if (key === undefined || (key.expiresAt ?? Infinity) <= Date.now()) return {};
      const { workspaceIds } = key;
      const chosen = workspaceId ?? (workspaceIds.length === 1 ? workspaceIds[0] : undefined);
      if (chosen !== undefined && workspaceIds.includes(chosen))
        wants.set(chosen, (wants.get(chosen) ?? 0) + want);
      const expiry =
        key.expiresAt === undefined ? {} : { expiresAt: timestampFromMs(key.expiresAt) };
      return { key: { id, scopes: ["posts:read"], workspaceIds: [...workspaceIds], ...expiry } };
    });
    return {
      knownCells: this.knownCells,
      answers,
      workspaces: [...wants].map(([id, want]) => this.#take(id, want)),
    };
  }

  #take(id: string, want: number): Grant {
    const bucket = this.buckets.get(id) ?? { capacity: 600, tokens: 600, at: Date.now() };
    this.buckets.set(id, bucket);
    const { capacity } = bucket;
    const refilled = ((Date.now() - bucket.at) * capacity) / 60_000;
    const available = Math.min(capacity, bucket.tokens + refilled);
    const ahead = Math.max(0, Math.floor(available - want - capacity * (1 - this.topShare)));
    const granted = Math.min(Math.floor(available), want + ahead);
    const left = available - granted;
    bucket.tokens = left;
    bucket.at = Date.now();
    return {
      id,
      verified: !this.unverified.has(id),
      requestsPerMinute: capacity,
      granted,
      remaining: Math.floor(left),
      emptyForMs: left >= 1 ? 0 : Math.ceil(((1 - left) * 60_000) / capacity),
    };
  }
}

function randomId(): string {
  return randomUUID();
}

/**
 * Returns the kind of the admission result of a request. If the request needs a call to the
 * accounts service, the test's clock is advanced by 2 ms, so that the call is made and answered.
 */
async function refusalOf(result: ReturnType<typeof admit>): Promise<string> {
  if (result instanceof Promise) await pass(2);
  return (await result).kind;
}

function newKey(cell?: string): string {
  return formatApiKey(randomBytes(32), "key", cell);
}

let accounts: TestAccounts;
let admission: Admission;

const US1 = "https://us1.example.com";
const NO_CELLS: Cells = { own: undefined, addresses: new Map() };
const CELLS: Cells = {
  own: "eu1",
  addresses: new Map([
    ["eu1", "https://eu1.example.com"],
    ["us1", US1],
  ]),
};

function open(cells = NO_CELLS): Admission {
  return createAdmission({ client: accounts.client, now: () => Date.now(), logger, cells });
}

function start(): void {
  accounts = new TestAccounts();
  admission = open();
}

beforeEach(() => {
  vi.useFakeTimers();
  start();
});

afterEach(async () => {
  accounts.latencyMs = 0;
  await admission[Symbol.asyncDispose]();
  vi.useRealTimers();
});

function admit(key: string | undefined, workspaceId?: string, address = ADDRESS) {
  return admission.admit({ key, workspaceId, address });
}

/**
 * Returns the admission result of a request. If the request needs a call to the accounts service,
 * the test's clock is first moved to the time of the answer.
 */
async function admitted(key: string | undefined, workspaceId?: string): Promise<AdmissionResult> {
  const result = admit(key, workspaceId);
  if (result instanceof Promise) await pass(2 + accounts.latencyMs);
  return await result;
}

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

async function kinds(results: readonly ReturnType<typeof admit>[]): Promise<readonly string[]> {
  return await Promise.all(results.map(async (result) => (await result).kind));
}

async function kindsOf(count: number, key: string): Promise<Record<string, number>> {
  const results = Array.from({ length: count }, () => admit(key));
  await pass(2 + accounts.latencyMs);
  const counts: Record<string, number> = {};
  for (const kind of await kinds(results)) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Uses up the requests that were granted ahead. Returns their number. */
function spendStock(key: string): number {
  let count = 0;
  while (!(admit(key) instanceof Promise)) count += 1;
  return count;
}

function wants(): (number | undefined)[][] {
  return accounts.calls.map((queries) => queries.map(({ want }) => want));
}

test("a request with a valid API key is admitted to the workspace of the key", async () => {
  const key = accounts.addKey();
  expect(await admitted(key)).toEqual({
    kind: "admitted",
    keyId: hashApiKey(key).toString("hex"),
    scopes: new Set(["posts:read"]),
    workspaceId: WORKSPACE,
    verified: true,
    isFrozen: false,
    limit: {
      policy: "workspace",
      quota: 600,
      windowSeconds: 60,
      remaining: 599,
      resetSeconds: 1,
    },
  });
});

test("requests with uncached API keys share one call to the accounts service per 2 ms, which checks each pair of key and workspace once", async () => {
  const one = accounts.addKey();
  const two = accounts.addKey({ workspaceIds: [WORKSPACE, OTHER_WORKSPACE] });
  const results = [admit(one), admit(two, WORKSPACE), admit(one), admit(two, OTHER_WORKSPACE)];
  await pass(1);
  results.push(admit(one));
  expect(accounts.calls).toHaveLength(0);
  await pass(1);
  expect(wants()).toEqual([[3, 1, 1]]);
  expect(await kinds(results)).toEqual(Array(5).fill("admitted"));
});

test("one call to the accounts service checks at most 500 API keys", async () => {
  const results = Array.from({ length: 501 }, (_, index) =>
    admit(accounts.addKey(), undefined, `2001:db8:${index.toString(16)}::1`),
  );
  await pass(2);
  expect(accounts.calls.map((queries) => queries.length)).toEqual([500, 1]);
  expect(new Set(await kinds(results))).toEqual(new Set(["admitted"]));
});

test("requests that were granted in advance are admitted without a call to the accounts service", async () => {
  const key = accounts.addKey();
  await admitted(key);
  for (let left = 598; left >= 570; left -= 1)
    expect(admit(key)).toMatchObject({ kind: "admitted", limit: { remaining: left } });
  expect(accounts.calls).toHaveLength(1);
  expect(admit(key)).toBeInstanceOf(Promise);
});

test("the first request after a workspace's verification is admitted as verified, and an unverified workspace uses no request twice", async () => {
  const key = accounts.addKey();
  accounts.unverified.add(WORKSPACE);
  for (const remaining of [599, 598])
    expect(await admitted(key)).toMatchObject({ verified: false, limit: { remaining } });
  accounts.unverified.delete(WORKSPACE);
  expect(await admitted(key)).toMatchObject({ verified: true, limit: { remaining: 597 } });
  expect(admit(key)).toMatchObject({ verified: true });
  accounts.unverified.add(WORKSPACE);
  await pass(3_000);
  const before = accounts.calls.length;
  const counts = await kindsOf(1_000, key);
  expect(counts).toMatchObject({ admitted: expect.any(Number) as number });
  expect(counts["rate_limited"]).toBeGreaterThan(300);
  const calls = accounts.calls.length;
  expect(calls - before).toBeLessThan(5);
  expect(await kindsOf(1_000, key)).toEqual({ rate_limited: 1_000 });
  expect(accounts.calls).toHaveLength(calls);
});

test("a call to the accounts service that admits several requests carries neither the id nor the deadline of one of them", async () => {
  // Uses real timers, because fake timers lose the request context.
  vi.useRealTimers();
  start();
  const result = runInContext({ requestId: "first" }, () => admit(accounts.addKey()));
  expect(await result).toMatchObject({ kind: "admitted" });
  expect(accounts.contexts).toEqual([undefined]);
});

test("requests over a workspace's rate limit are refused without a call to the accounts service until the limit allows another request", async () => {
  const key = accounts.addKey();
  accounts.setBucket(WORKSPACE, 600, 1);
  expect(await kindsOf(3, key)).toEqual({ admitted: 1, rate_limited: 2 });
  expect(admit(key)).toEqual({
    kind: "rate_limited",
    workspaceId: WORKSPACE,
    retryAfterSeconds: 1,
    limit: { policy: "workspace", quota: 600, windowSeconds: 60, remaining: 0, resetSeconds: 60 },
  });
  // The rate limit allows the next request after 100 ms. 2 ms have passed already, in which the
  // gateway collected requests for the call.
  await pass(97);
  expect(admit(key)).toMatchObject({ kind: "rate_limited" });
  expect(accounts.calls).toHaveLength(1);
  await pass(1);
  expect(await admitted(key)).toMatchObject({ kind: "admitted" });
});

test("a raised rate limit takes effect within 3 s, even for a workspace that had used up the old limit", async () => {
  const key = accounts.addKey();
  accounts.setBucket(WORKSPACE, 1, 0);
  expect(await admitted(key)).toMatchObject({ kind: "rate_limited", retryAfterSeconds: 60 });
  accounts.setBucket(WORKSPACE, 600);
  await pass(3000);
  expect(await admitted(key)).toMatchObject({ kind: "admitted", limit: { quota: 600 } });
});

test("requests that the accounts service granted in advance to one API key can be used by another API key of the same workspace", async () => {
  const [one, two] = [accounts.addKey(), accounts.addKey()];
  await Promise.all([admitted(one), admit(two)]);
  for (let count = 0; count < 28; count += 1)
    expect(admit(two)).toMatchObject({ kind: "admitted" });
  expect(accounts.calls).toHaveLength(1);
});

test("requests that were granted in advance become fewer as the bucket of the accounts service refills, and none is left after 3 s", async () => {
  const key = accounts.addKey();
  await admitted(key);
  await pass(1000);
  // The bucket has refilled 10 of the 30 requests that were taken from it.
  expect(spendStock(key)).toBe(20);
  await pass(2000);
  const later = accounts.addKey();
  expect(await admitted(later)).toMatchObject({ kind: "admitted" });
  await pass(3000);
  expect(spendStock(later)).toBe(0);
});

test("a stopping gateway answers the requests that wait, and refuses requests that would need a call to the accounts service", async () => {
  const key = accounts.addKey();
  accounts.latencyMs = 50;
  const waiting = admit(key);
  const leaving = admission[Symbol.asyncDispose]();
  await pass(200);
  await leaving;
  expect(await waiting).toMatchObject({ kind: "admitted" });
  expect(admit(newKey())).toEqual({ kind: "unavailable", retryAfterSeconds: 1 });
});

test("a revoked API key works for at most 2 s after the accounts service was last asked about it, however long the answer took", async () => {
  const key = accounts.addKey();
  accounts.setBucket(WORKSPACE, 60_000);
  accounts.latencyMs = 500;
  const first = admit(key);
  await pass(502);
  expect(await first).toMatchObject({ kind: "admitted" });
  accounts.latencyMs = 0;
  accounts.revoke(key);
  await pass(1499);
  expect(admit(key)).toMatchObject({ kind: "admitted" });
  await pass(1);
  expect(await admitted(key)).toMatchObject({ kind: "unauthenticated" });
});

test("whether an API key has ended is known within 5 s of its revocation, and asking takes nothing from the budget", async () => {
  const key = accounts.addKey();
  expect(await admitted(key)).toMatchObject({ kind: "admitted" });
  const hasEnded = async () => {
    const answer = admission.hasEnded({ key, workspaceId: WORKSPACE, address: ADDRESS });
    await pass(2);
    return await answer;
  };
  await pass(2000);
  expect(await hasEnded()).toBe(false);
  expect(wants().at(-1)).toEqual([0]);

  accounts.revoke(key);
  expect(await hasEnded()).toBe(false);
  await pass(2000);
  // Nor from what its address has left for other keys.
  const answers = Array.from({ length: 500 }, hasEnded);
  expect(new Set(await Promise.all(answers))).toEqual(new Set([true]));
  expect(await admitted(accounts.addKey())).toMatchObject({ kind: "admitted" });
});

test("an API key has not ended because the accounts service does not answer, and has ended for a workspace that it no longer has", async () => {
  const otherWorkspace = randomId();
  const key = accounts.addKey({ workspaceIds: [WORKSPACE, otherWorkspace] });
  expect(await admitted(key, WORKSPACE)).toMatchObject({ kind: "admitted" });
  const hasEnded = async (workspaceId: string) => {
    const answer = admission.hasEnded({ key, workspaceId, address: ADDRESS });
    await pass(2);
    return await answer;
  };
  accounts.state = "refusing";
  await pass(6000);
  expect(await hasEnded(WORKSPACE)).toBe(false);
  accounts.state = "up";
  await pass(6000);
  accounts.addKey({ workspaceIds: [otherWorkspace] }, key);
  expect(await hasEnded(WORKSPACE)).toBe(true);
  expect(await hasEnded(otherWorkspace)).toBe(false);
});

test("an API key stops working when it expires", async () => {
  const key = accounts.addKey({ expiresAt: Date.now() + 1000 });
  expect(await admitted(key)).toMatchObject({ kind: "admitted" });
  await pass(997);
  expect(await admitted(key)).toMatchObject({ kind: "admitted" });
  await pass(1);
  expect(await admitted(key)).toMatchObject({ kind: "unauthenticated" });
});

test("a missing or malformed API key is refused without a call to the accounts service", () => {
  const misspelt = `${newKey().slice(0, -1)}!`;
  const wrongSum = newKey().replace(/.{6}$/, "000000");
  for (const key of [undefined, "", "nonsense", misspelt, wrongSum])
    expect(admit(key)).toMatchObject({ kind: "unauthenticated", limit: { policy: "address" } });
  expect(vi.getTimerCount()).toBe(1);
});

test("an unknown API key is looked up at most once in 2 s", async () => {
  const key = newKey();
  expect(await admitted(key)).toMatchObject({ kind: "unauthenticated" });
  await pass(1999);
  for (const workspaceId of [undefined, WORKSPACE])
    expect(admit(key, workspaceId)).toMatchObject({ kind: "unauthenticated" });
  expect(accounts.calls).toHaveLength(1);
  await pass(1);
  expect(await admitted(key)).toMatchObject({ kind: "unauthenticated" });
  expect(accounts.calls).toHaveLength(2);
});

const addressLimit = (remaining: number) => ({
  policy: "address",
  quota: 120,
  windowSeconds: 60,
  remaining,
  resetSeconds: Math.ceil((120 - remaining) / 2),
});

test("a key of another cell is refused with the address of that cell, and the accounts service is asked about one of these keys in two seconds", async () => {
  admission = open(CELLS);
  const limit = { policy: "address", remaining: 119 };
  const refusal = { kind: "wrong_cell", cell: "us1", cellAddress: US1, limit };
  expect(await admitted(newKey("us1"))).toMatchObject(refusal);
  for (let left = 119; left > 0; left -= 1)
    expect(admit(newKey("us1"))).toMatchObject({ kind: "wrong_cell" });
  expect(admit(newKey("us1"))).toMatchObject({ kind: "rate_limited", workspaceId: undefined });
  expect(accounts.calls).toHaveLength(1);
  await pass(2_000);
  expect(await admitted(newKey("us1"))).toMatchObject({ kind: "wrong_cell" });
  expect(accounts.calls).toHaveLength(2);
});

test("a key that came with its workspace from another cell is admitted, whatever unknown keys of that cell are sent", async () => {
  admission = open(CELLS);
  accounts.knownCells = ["us1"];
  const key = accounts.addKey({}, newKey("us1"));
  for (const sent of [newKey("us1"), key, newKey("us1"), newKey("us1")])
    expect(await admitted(sent)).toMatchObject({ kind: sent === key ? "admitted" : "wrong_cell" });
  expect(wants()).toHaveLength(4);
});

test("a key of an unknown cell, and one whose cell was exchanged, are unauthenticated without a call to the accounts service", () => {
  admission = open(CELLS);
  for (const key of [newKey("ap1"), newKey("eu1").replace("eu1", "us1"), "pr_live_us1_x"])
    expect(admit(key)).toMatchObject({ kind: "unauthenticated" });
});

test("a cell admits its own keys and those from before it had a name", async () => {
  admission = open(CELLS);
  const keys = [accounts.addKey(), accounts.addKey({}, newKey("eu1"))];
  for (const key of keys) expect(await admitted(key)).toMatchObject({ kind: "admitted" });
});

test("an installation without cells admits the keys that it made as a cell", async () => {
  expect(await admitted(accounts.addKey({}, newKey("eu1")))).toMatchObject({ kind: "admitted" });
});

test("a request with an API key of several workspaces must name one of them", async () => {
  const key = accounts.addKey({ workspaceIds: [WORKSPACE, OTHER_WORKSPACE] });
  expect(await admitted(key)).toMatchObject({ kind: "workspace_required" });
  expect(admit(key)).toMatchObject({ kind: "workspace_required" });
  for (const named of [STRANGE_WORKSPACE, "no id", WORKSPACE.toUpperCase()])
    expect(await admitted(key, named)).toMatchObject({ kind: "workspace_forbidden" });
  for (const workspaceId of [OTHER_WORKSPACE, WORKSPACE, OTHER_WORKSPACE])
    expect(await admitted(key, workspaceId)).toMatchObject({ kind: "admitted", workspaceId });
});

test("a request with a valid API key that selects no workspace counts towards the limit of its remote address", async () => {
  const key = accounts.addKey({ workspaceIds: [WORKSPACE, OTHER_WORKSPACE] });
  expect(await admitted(key)).toEqual({
    kind: "workspace_required",
    limit: addressLimit(119),
    workspaceIds: [WORKSPACE, OTHER_WORKSPACE],
  });
  for (let count = 2; count <= 120; count += 1)
    expect(admit(key, randomId())).toMatchObject({ kind: "workspace_forbidden" });
  expect(admit(key, randomId())).toMatchObject({ kind: "rate_limited", workspaceId: undefined });
  expect(admit(key)).toMatchObject({ kind: "rate_limited", workspaceId: undefined });
  expect(await admitted(key, WORKSPACE)).toMatchObject({ kind: "admitted" });
});

test("requests that name many foreign workspaces cause one check by the accounts service, and evict no other API key from the gateway's cache", async () => {
  const [victim, key] = [accounts.addKey(), accounts.addKey()];
  accounts.setBucket(WORKSPACE, 60_000);
  await admitted(victim);
  for (let index = 0; index < 20_000; index += 1) {
    const address = `2001:db8:${Math.floor(index / 100).toString(16)}::1`;
    await refusalOf(admit(key, randomId(), address));
  }
  expect(accounts.calls.length).toBeLessThanOrEqual(2);
  expect(admit(victim)).toMatchObject({ kind: "admitted" });
});

test("after 120 unknown API keys per minute, a remote address makes the gateway look up only API keys that were valid within the last day", async () => {
  const [used, fresh] = [accounts.addKey(), accounts.addKey()];
  await admitted(used);
  await pass(10_000);
  for (let count = 0; count < 120; count += 1)
    expect(await admitted(newKey())).toMatchObject({ kind: "unauthenticated" });
  // The 120 look-ups of unknown API keys took 2 ms each. In this time the limit of the remote
  // address was refilled by one request.
  await admitted(newKey());
  const before = accounts.calls.length;
  for (let count = 0; count < 100; count += 1)
    expect(admit(newKey())).toMatchObject({
      kind: "rate_limited",
      workspaceId: undefined,
      retryAfterSeconds: 1,
    });
  expect(admit(fresh)).toMatchObject({ kind: "rate_limited" });
  expect(accounts.calls.length).toBe(before);
  expect(await admitted(used)).toMatchObject({ kind: "admitted" });
  const other = admit(fresh, undefined, "192.0.2.2");
  await pass(2);
  expect(await other).toMatchObject({ kind: "admitted" });
});

const unknownKey = newKey();
test.each([
  ["different API keys", () => admit(newKey())],
  ["one API key and different workspaces", () => admit(unknownKey, randomId())],
])(
  "10,000 concurrent requests with unknown %s cause at most 120 look-ups per remote address, and another address can still look up its key",
  async (_what, request) => {
    const valid = accounts.addKey();
    accounts.latencyMs = 500;
    const results = Array.from({ length: 10_000 }, () => request());
    expect(results.filter((result) => result instanceof Promise)).toHaveLength(120);
    const other = admit(valid, undefined, "192.0.2.2");
    await pass(502);
    expect(await other).toMatchObject({ kind: "admitted" });
    const refused = (await kinds(results)).filter((kind) => kind === "rate_limited");
    expect(refused).toHaveLength(9_880);
  },
);

test("of 10,000 concurrent requests with one unknown API key, at most 1,000 per remote address wait for its look-up", async () => {
  const valid = accounts.addKey();
  accounts.latencyMs = 500;
  const results = Array.from({ length: 10_000 }, () => admit(unknownKey));
  expect(results.filter((result) => result instanceof Promise)).toHaveLength(1_000);
  const other = admit(valid, undefined, "192.0.2.2");
  await pass(502);
  expect(await other).toMatchObject({ kind: "admitted" });
  expect(new Set(await kinds(results))).toEqual(new Set(["rate_limited", "unauthenticated"]));
});

test("look-ups of valid API keys, and look-ups without an answer, do not count towards the limit of their remote address", async () => {
  accounts.state = "refusing";
  const unanswered = Array.from({ length: 120 }, () => admit(newKey()));
  await pass(2);
  expect(new Set(await kinds(unanswered))).toEqual(new Set(["unavailable"]));
  accounts.state = "up";
  await pass(1000);
  // The gateway sends one request to the accounts service to find that the outage has ended.
  expect(await admitted(accounts.addKey())).toMatchObject({ kind: "admitted" });
  for (let round = 0; round < 3; round += 1) {
    const results = Array.from({ length: 120 }, () => admit(accounts.addKey()));
    await pass(2);
    expect(new Set(await kinds(results))).toEqual(new Set(["admitted"]));
  }
});

test("500 requests at once with an API key that is not recognised yet are looked up once and admitted", async () => {
  expect(await kindsOf(500, accounts.addKey())).toEqual({ admitted: 500 });
  expect(wants()).toEqual([[500]]);
});

test("requests with one API key that name different malformed workspace ids share one query to the accounts service", async () => {
  const key = accounts.addKey();
  const results = ["a", "b", "c"].map((named) => admit(key, named));
  await pass(2);
  expect(new Set(await kinds(results))).toEqual(new Set(["workspace_forbidden"]));
  expect(wants()).toEqual([[3]]);
});

test("all addresses of an IPv6 /64 network share one limit of failed authentications", () => {
  const fail = (address: string) => admit(undefined, undefined, address);
  for (let count = 0; count < 120; count++)
    expect(fail(`2001:db8:1:2::${count.toString(16)}`)).toMatchObject({ kind: "unauthenticated" });
  expect(fail("2001:db8:1:2:ffff::1")).toMatchObject({ kind: "rate_limited" });
  expect(fail("2001:db8:1:3::1")).toMatchObject({ kind: "unauthenticated" });
});

test("after 120 failed authentications per minute, requests of a client address are refused unless their API key is valid", async () => {
  const key = accounts.addKey();
  for (let count = 1; count <= 120; count += 1)
    expect(admit(undefined)).toMatchObject({
      kind: "unauthenticated",
      limit: { policy: "address", quota: 120, remaining: 120 - count },
    });
  expect(admit(undefined)).toEqual({
    kind: "rate_limited",
    workspaceId: undefined,
    retryAfterSeconds: 1,
    limit: { policy: "address", quota: 120, windowSeconds: 60, remaining: 0, resetSeconds: 60 },
  });
  expect(await admitted(newKey())).toMatchObject({ kind: "rate_limited", workspaceId: undefined });
  expect(await admitted(key)).toMatchObject({ kind: "admitted" });
  expect(admit(undefined, undefined, "192.0.2.2")).toMatchObject({ kind: "unauthenticated" });
});

test("while the accounts service does not answer, known API keys work for 3 s after their cached answer expires, and unknown ones are refused", async () => {
  const key = accounts.addKey();
  const asked = Date.now() + 2;
  await admitted(key);
  accounts.state = "refusing";
  await pass(asked + 1_999 - Date.now());
  expect(await admitted(newKey())).toEqual({ kind: "unavailable", retryAfterSeconds: 1 });
  while (Date.now() < asked + 4_900) {
    expect(await admitted(key)).toMatchObject({ kind: "admitted", limit: { policy: "workspace" } });
    await pass(100);
  }
  await pass(asked + 5_000 - Date.now());
  expect(await admitted(key)).toEqual({ kind: "unavailable", retryAfterSeconds: 1 });
  accounts.state = "up";
  await pass(1000);
  expect(await admitted(key)).toMatchObject({ kind: "admitted" });
});

test("while the accounts service does not answer, one request at a time probes the service and the others do not wait", async () => {
  const [one, two] = [accounts.addKey(), accounts.addKey()];
  await Promise.all([admitted(one), admit(two)]);
  accounts.state = "refusing";
  accounts.latencyMs = 400;
  await pass(3000);
  const first = admit(one);
  await pass(402);
  expect(await first).toMatchObject({ kind: "admitted" });
  await pass(100);
  expect(admit(one)).toBeInstanceOf(Promise);
  for (let count = 0; count < 5; count += 1) expect(admit(two)).toMatchObject({ kind: "admitted" });
  await pass(402);
});

test("while the accounts service does not answer, a gateway admits a twentieth of the rate limit beyond its grant, then answers 503", async () => {
  const key = accounts.addKey();
  await admitted(key);
  spendStock(key);
  await pass(2);
  accounts.state = "refusing";
  expect(await kindsOf(50, key)).toEqual({ admitted: 30, unavailable: 20 });
  expect(await kindsOf(5, key)).toEqual({ unavailable: 5 });
});

test("requests admitted during an outage of the accounts service are deducted from the requests that the service grants next", async () => {
  const key = accounts.addKey();
  await admitted(key);
  spendStock(key);
  await pass(2);
  accounts.state = "refusing";
  expect(await kindsOf(20, key)).toEqual({ admitted: 20 });
  accounts.state = "up";
  await pass(100);
  const before = accounts.buckets.get(WORKSPACE)?.tokens ?? 0;
  expect(await admitted(key)).toMatchObject({ kind: "admitted" });
  // Less than two requests were refilled meanwhile.
  expect(accounts.buckets.get(WORKSPACE)?.tokens).toBeLessThan(before - 21 + 2);
});

test("after an outage of the accounts service, requests that wait for the first call to it are admitted, even if many others come first", async () => {
  const key = accounts.addKey();
  await admitted(key);
  spendStock(key);
  await pass(2);
  accounts.state = "refusing";
  expect(await kindsOf(10, key)).toEqual({ admitted: 10 });
  accounts.state = "up";
  accounts.latencyMs = 400;
  await pass(100);
  const first = admit(key);
  await pass(3);
  for (let count = 0; count < 20; count += 1)
    expect(admit(key)).toMatchObject({ kind: "admitted" });
  await pass(402);
  await pass(402);
  expect(await first).toMatchObject({ kind: "admitted" });
});

test("after an outage of the accounts service, an uncached API key is admitted, even if another key of the workspace made many requests meanwhile", async () => {
  const [one, two] = [accounts.addKey(), accounts.addKey()];
  await admitted(one);
  accounts.state = "refusing";
  expect(await kindsOf(50, one)).toEqual({ admitted: 50 });
  accounts.state = "up";
  await pass(100);
  const result = admit(two);
  // The first call makes up for the requests of the outage, the second one admits this request.
  await pass(4);
  expect(await result).toMatchObject({ kind: "admitted" });
});

test("requests that a lost answer of the accounts service granted are never used, and requests that earlier answers granted stay usable", async () => {
  const [one, two] = [accounts.addKey(), accounts.addKey()];
  await admitted(one);
  accounts.state = "losing";
  expect(await admitted(two)).toEqual({ kind: "unavailable", retryAfterSeconds: 1 });
  accounts.state = "up";
  for (let count = 0; count < 7; count += 1) expect(admit(one)).toMatchObject({ kind: "admitted" });
});

const PER_MINUTE = 240;
const PER_MS = PER_MINUTE / 60_000;

/** A token bucket that counts each request at the time at which the gateway decides about it. */
class IdealBucket {
  tokens = PER_MINUTE;
  #at = Date.now();

  refill(): void {
    const refilled = (Date.now() - this.#at) * PER_MS;
    this.tokens = Math.min(PER_MINUTE, this.tokens + refilled);
    this.#at = Date.now();
  }

  /** Takes a request if there is one, as a single gateway without a cache would. */
  tryTake(): boolean {
    this.refill();
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }
}

interface Step {
  readonly gateway: number;
  readonly key: number;
  readonly count: number;
  readonly thenMs: number;
  readonly latencyMs: number;
}

const stepsOf = (count: fc.Arbitrary<number>, thenMs: fc.Arbitrary<number>) =>
  fc.array(
    fc.record({
      gateway: fc.nat({ max: 3 }),
      key: fc.nat({ max: 1 }),
      count,
      thenMs,
      latencyMs: fc.nat(60),
    }),
    { minLength: 20, maxLength: 80, size: "max" },
  );
/** Any traffic: bursts and pauses, moving from one gateway to another. */
const anySteps = stepsOf(
  fc.integer({ min: 1, max: 40 }),
  fc.oneof(fc.nat(50), fc.integer({ min: 100, max: 4_000 })),
);

interface Played {
  readonly admitted: number;
  /** How many requests one gateway without a cache would have admitted. */
  readonly ideal: number;
  /** How far the admitted requests exceeded the rate limit of any period at most. */
  readonly mostAbove: number;
}

/** Sends the requests of the steps to four gateways of one accounts service. */
async function play(
  steps: readonly Step[],
  openGateway: () => Pick<Admission, "admit">,
  topShare = 1 / 20,
): Promise<Played> {
  accounts = new TestAccounts();
  accounts.topShare = topShare;
  accounts.setBucket(WORKSPACE, PER_MINUTE);
  const keys = [accounts.addKey(), accounts.addKey()];
  const gateways = Array.from({ length: 4 }, openGateway);
  const [ideal, actual] = [new IdealBucket(), new IdealBucket()];
  const played = { admitted: 0, ideal: 0, mostAbove: -PER_MINUTE };
  const note = ({ kind }: AdmissionResult): void => {
    if (kind !== "admitted") return;
    played.admitted += 1;
    actual.refill();
    actual.tokens -= 1;
    played.mostAbove = Math.max(played.mostAbove, -actual.tokens);
  };
  const waiting: Promise<void>[] = [];
  for (const { gateway, key, count, thenMs, latencyMs } of steps) {
    accounts.latencyMs = latencyMs;
    for (let index = 0; index < count; index += 1) {
      if (ideal.tryTake()) played.ideal += 1;
      const request = { key: keys[key], workspaceId: undefined, address: ADDRESS };
      const result = gateways[gateway]?.admit(request);
      if (result instanceof Promise) waiting.push(result.then(note));
      else if (result !== undefined) note(result);
    }
    await pass(thenMs);
  }
  await pass(200);
  await Promise.all(waiting);
  vi.clearAllTimers();
  return played;
}

const step = (gateway: number, key: number, count: number, thenMs: number): Step => {
  return { gateway, key, count, thenMs, latencyMs: 0 };
};
/** A gateway gets a second grant while another one holds requests, before both get a burst. */
const secondGrant = [step(0, 0, 1, 1000), step(1, 0, 1, 10), step(0, 1, 1, 1900)];
const bursts = [step(1, 0, 3, 0), step(0, 1, 300, 100)];

/**
 * A request may be decided up to 62 ms after it was taken from the bucket, which refills meanwhile.
 */
const TOLERANCE = 1 + 62 * PER_MS;
/** The runs take many seconds on a busy machine and would continue during the next test. */
const PROPERTY_MS = 60_000;

test(
  "gateways never admit more requests in any period than the rate limit of the workspace, however traffic moves between them",
  async () => {
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        const { mostAbove } = await play(steps, open);
        expect(mostAbove).toBeLessThanOrEqual(TOLERANCE);
      }),
      { numRuns: 60, examples: [[[...secondGrant, ...bursts]]] },
    );
  },
  PROPERTY_MS,
);

test(
  "gateways admit at most 5 % of the rate limit less than a single bucket would, however traffic moves between them",
  async () => {
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        const { admitted: count, ideal } = await play(steps, open);
        expect(count).toBeGreaterThanOrEqual(ideal - PER_MINUTE / 20 - TOLERANCE);
      }),
      { numRuns: 60 },
    );
  },
  PROPERTY_MS,
);

/** Traffic that exceeds the limit on every gateway in turn. */
const overload = Array.from({ length: 60 }, (_, index) => step(index % 4, 0, 20, 100));

test("gateways that granted themselves requests without the accounts service would admit too many", async () => {
  const naive = () => {
    const bucket = new IdealBucket();
    const limit = {
      policy: "workspace",
      quota: PER_MINUTE,
      windowSeconds: 60,
      remaining: 0,
      resetSeconds: 0,
    } as const;
    const result = {
      kind: "admitted",
      keyId: "",
      scopes: new Set<string>(),
      workspaceId: WORKSPACE,
      verified: true,
      isFrozen: false,
      limit,
    } as const;
    return {
      admit: (): AdmissionResult =>
        bucket.tryTake() ? result : { kind: "unavailable", retryAfterSeconds: 1 },
    };
  };
  expect((await play(overload, naive)).mostAbove).toBeGreaterThan(TOLERANCE);
  expect((await play(overload, open)).mostAbove).toBeLessThanOrEqual(TOLERANCE);
});

test("an accounts service that granted half of the bucket in advance would make gateways admit too few", async () => {
  // One request on each gateway, later far too many on one that did not get the half.
  const steps = [step(0, 0, 1, 10), step(2, 0, 1, 10), step(3, 0, 1, 4_000), step(1, 0, 400, 100)];
  const least = ({ ideal }: Played) => ideal - PER_MINUTE / 20 - TOLERANCE;
  const generous = await play(steps, open, 1 / 2);
  expect(generous.admitted).toBeLessThan(least(generous));
  const played = await play(steps, open);
  expect(played.admitted).toBeGreaterThanOrEqual(least(played));
});
