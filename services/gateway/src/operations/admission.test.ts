import { randomBytes, randomUUID } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  AdmitResponseSchema,
  AdmittedKeySchema,
  type AdmissionGrantSchema,
  type AdmissionQuerySchema,
  type AdmitRequestSchema,
} from "@postrider/contracts/accounts/v1/admission_service_pb";
import { formatApiKey, hashApiKey } from "@postrider/shared/secrets/api-keys";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { runInContext, findContext } from "@postrider/shared/telemetry/request-context";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Admission, createAdmission } from "#src/operations/admission.ts";
import type { AdmissionResult } from "#src/operations/admission/admission-result.ts";

const ADDRESS = "192.0.2.1";
const WORKSPACE = "019a0000-0000-7000-8000-000000000001";
const OTHER_WORKSPACE = "019a0000-0000-7000-8000-000000000002";
const STRANGE_WORKSPACE = "019a0000-0000-7000-8000-000000000003";
const logger = createLogger({ service: "gateway", level: "silent" });

type Query = MessageInitShape<typeof AdmissionQuerySchema>;
type Grant = MessageInitShape<typeof AdmissionGrantSchema>;

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
 * Simulates the API keys and token buckets of the accounts service. It answers after `latencyMs` of the test's clock.
 */
class TestAccounts {
  readonly keys = new Map<string, StoredKey>();
  readonly calls: Query[][] = [];
  readonly contexts: unknown[] = [];
  readonly buckets = new Map<string, Bucket>();
  /** Number of requests that the accounts service granted in answers that reached the gateway. */
  granted = 0;
  givenBack = 0;
  /** Ids of the workspaces that are not verified. */
  readonly unverified = new Set<string>();
  latencyMs = 0;
  /**
   * Whether the simulated accounts service names all workspaces of an API key in its answers. An earlier release of the
   * accounts service does not.
   */
  listsWorkspaces = true;
  /**
   * State of the simulated accounts service. `refusing`: a call fails. `losing`: a call is carried out, and its answer
   * is lost.
   */
  state: "up" | "refusing" | "losing" = "up";

  readonly client = {
    admit: async (request: MessageInitShape<typeof AdmitRequestSchema>) => {
      const queries = request.queries ?? [];
      this.calls.push(queries);
      this.contexts.push(findContext());
      const { state, latencyMs } = this;
      const grants = state === "refusing" ? [] : queries.map((query) => this.#answer(query));
      if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
      if (state !== "up") throw new Error("no connection");
      const response = create(AdmitResponseSchema, { grants });
      this.granted += response.grants.reduce((sum, { granted }) => sum + granted, 0);
      return response;
    },
  };

  addKey(stored: Partial<StoredKey> = {}): string {
    const key = newKey();
    this.keys.set(hashApiKey(key).toString("hex"), { workspaceIds: [WORKSPACE], ...stored });
    return key;
  }

  revoke(key: string): void {
    this.keys.delete(hashApiKey(key).toString("hex"));
  }

  setBucket(workspaceId: string, capacity: number, tokens = capacity): void {
    this.buckets.set(workspaceId, { capacity, tokens, at: Date.now() });
  }

  #answer({ keyHash, workspaceId, want = 0, giveBack = 0 }: Query): Grant {
    const hash = Buffer.from(keyHash ?? []).toString("hex");
    const key = this.keys.get(hash);
    if (key === undefined || (key.expiresAt ?? Infinity) <= Date.now()) return { ttlMs: 3000 };
    const [first, ...others] = key.workspaceIds;
    const expiry = key.expiresAt === undefined ? {} : { expiresAt: timestampFromMs(key.expiresAt) };
    const workspaceCount = key.workspaceIds.length;
    const workspaceIds = this.listsWorkspaces ? [...key.workspaceIds] : [];
    const found = { id: hash, scopes: ["posts:read"], workspaceCount, workspaceIds, ...expiry };
    const answer = { key: create(AdmittedKeySchema, found) };
    const chosen = workspaceId ?? (others.length === 0 ? first : undefined);
    if (chosen === undefined || !key.workspaceIds.includes(chosen))
      return { ...answer, ttlMs: 3000 };
    return { ...answer, ttlMs: 3000, ...this.#take(chosen, want, giveBack) };
  }

  #take(id: string, want: number, giveBack: number) {
    const bucket = this.buckets.get(id) ?? { capacity: 600, tokens: 600, at: Date.now() };
    this.buckets.set(id, bucket);
    const { capacity } = bucket;
    const refilled = ((Date.now() - bucket.at) * capacity) / 60_000;
    const available = Math.min(capacity, bucket.tokens + refilled + giveBack);
    const ahead = Math.min(available > capacity / 2 ? 8 : 1, Math.floor(available / 32));
    const granted = want === 0 ? 0 : Math.min(Math.floor(available), Math.max(want, ahead));
    bucket.tokens = available - granted;
    bucket.at = Date.now();
    this.givenBack += giveBack;
    const left = bucket.tokens;
    return {
      workspace: { id, verified: !this.unverified.has(id), requestsPerMinute: capacity },
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
 * Returns the kind of the admission result of a request. If the request needs a call to the accounts service, the
 * test's clock is advanced by 2 ms, so that the call is made and answered.
 */
async function refusalOf(result: ReturnType<typeof admit>): Promise<string> {
  if (result instanceof Promise) await pass(2);
  return (await result).kind;
}

function newKey(): string {
  return formatApiKey(randomBytes(32));
}

let accounts: TestAccounts;
let admission: Admission;

function start(): void {
  accounts = new TestAccounts();
  admission = createAdmission({ client: accounts.client, now: () => Date.now(), logger });
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
 * Returns the admission result of a request. If the request needs a call to the accounts service, the test's clock is
 * first moved to the time of the answer.
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

/** Uses up the requests that the accounts service granted in advance. Returns their number. */
function spendPrepaid(key: string): number {
  let count = 0;
  while (!(admit(key) instanceof Promise)) count += 1;
  return count;
}

function wants(): (number | undefined)[][] {
  return accounts.calls.map((queries) => queries.map(({ want }) => want));
}

test("a request with a valid API key of one workspace is admitted to this workspace", async () => {
  const key = accounts.addKey();
  expect(await admitted(key)).toEqual({
    kind: "admitted",
    keyId: hashApiKey(key).toString("hex"),
    scopes: new Set(["posts:read"]),
    workspaceId: WORKSPACE,
    verified: true,
    limit: {
      policy: "workspace",
      quota: 600,
      windowSeconds: 60,
      remaining: 599,
      resetSeconds: 1,
    },
  });
});

test("requests whose API keys are not cached share one call to the accounts service per 2 ms, which checks each pair of API key and workspace once", async () => {
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
  for (let left = 598; left >= 592; left -= 1)
    expect(admit(key)).toMatchObject({ kind: "admitted", limit: { remaining: left } });
  expect(accounts.calls).toHaveLength(1);
  expect(admit(key)).toBeInstanceOf(Promise);
});

test("the first request after its workspace was verified is admitted to a verified workspace, and a workspace that is not verified uses no requests twice", async () => {
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

test("after a workspace has used up its rate limit, its requests are refused without a call to the accounts service until the limit allows another request", async () => {
  const key = accounts.addKey();
  accounts.setBucket(WORKSPACE, 600, 1);
  expect(await kindsOf(3, key)).toEqual({ admitted: 1, rate_limited: 2 });
  expect(admit(key)).toEqual({
    kind: "rate_limited",
    workspaceId: WORKSPACE,
    retryAfterSeconds: 1,
    limit: { policy: "workspace", quota: 600, windowSeconds: 60, remaining: 0, resetSeconds: 60 },
  });
  // The rate limit allows the next request after 100 ms. 2 ms have passed already, in which the gateway collected
  // requests for the call.
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
  expect(accounts.granted).toBe(16);
  for (let count = 0; count < 14; count += 1)
    expect(admit(two)).toMatchObject({ kind: "admitted" });
  expect(accounts.calls).toHaveLength(1);
});

test("the gateway asks the accounts service only for requests that the service has not already granted", async () => {
  const [one, two] = [accounts.addKey(), accounts.addKey()];
  await Promise.all([admitted(one), admit(two)]);
  await pass(1500);
  expect(spendPrepaid(one)).toBe(14);
  await pass(1500);
  expect(await kindsOf(3, two)).toEqual({ admitted: 3 });
  expect(wants()).toEqual([[1, 1], [1], [0]]);
  expect(spendPrepaid(two)).toBe(4);
});

test("requests that the accounts service granted in advance and that no client made within 3 s are returned to it exactly once", async () => {
  const key = accounts.addKey();
  await admitted(key);
  await pass(2900);
  expect(accounts.givenBack).toBe(0);
  await pass(700);
  expect(accounts.givenBack).toBe(7);
  await pass(10_000);
  expect(accounts.givenBack).toBe(7);
  expect(accounts.calls.map((queries) => queries.map(({ giveBack }) => giveBack))).toEqual([
    [0],
    [7],
  ]);
});

test("a stopping gateway returns the requests that were granted to it in advance and not used, and refuses requests that would need a call to the accounts service", async () => {
  const key = accounts.addKey();
  accounts.latencyMs = 50;
  const waiting = admit(key);
  const leaving = admission[Symbol.asyncDispose]();
  await pass(200);
  await leaving;
  expect(await waiting).toMatchObject({ kind: "admitted" });
  expect(accounts.givenBack).toBe(accounts.granted - 1);
  expect(admit(newKey())).toEqual({ kind: "unavailable", retryAfterSeconds: 1 });
});

test("a revoked API key works for at most 3 s after the accounts service was last asked about it, however long the answer took", async () => {
  const key = accounts.addKey();
  accounts.setBucket(WORKSPACE, 60_000);
  accounts.latencyMs = 500;
  const first = admit(key);
  await pass(502);
  expect(await first).toMatchObject({ kind: "admitted" });
  accounts.latencyMs = 0;
  accounts.revoke(key);
  await pass(2499);
  expect(admit(key)).toMatchObject({ kind: "admitted" });
  await pass(1);
  expect(await admitted(key)).toMatchObject({ kind: "unauthenticated" });
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

test("an unknown API key is looked up at most once in 3 s", async () => {
  const key = newKey();
  expect(await admitted(key)).toMatchObject({ kind: "unauthenticated" });
  await pass(2999);
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

test.each([true, false])(
  "a request with an API key of several workspaces must name one of them, whether or not the accounts service lists the workspaces (listed: %s)",
  async (listsWorkspaces) => {
    accounts.listsWorkspaces = listsWorkspaces;
    const key = accounts.addKey({ workspaceIds: [WORKSPACE, OTHER_WORKSPACE] });
    expect(await admitted(key)).toMatchObject({ kind: "workspace_required" });
    expect(admit(key)).toMatchObject({ kind: "workspace_required" });
    for (const named of [STRANGE_WORKSPACE, "no id", WORKSPACE.toUpperCase()]) {
      expect(await admitted(key, named)).toMatchObject({ kind: "workspace_forbidden" });
      expect(await admitted(key, named)).toMatchObject({ kind: "workspace_forbidden" });
    }
    for (const workspaceId of [OTHER_WORKSPACE, WORKSPACE, OTHER_WORKSPACE])
      expect(await admitted(key, workspaceId)).toMatchObject({ kind: "admitted", workspaceId });
  },
);

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

test("requests that name many workspaces to which their API key does not belong cause one check by the accounts service and evict no other API key from the gateway's cache", async () => {
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
  // The 120 look-ups of unknown API keys took 2 ms each. In this time the limit of the remote address was refilled by
  // one request.
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
  "10,000 requests at once with %s that are unknown cause at most 120 look-ups per remote address, and another address can still look up its API key",
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

test("of 10,000 requests at once with one unknown API key, at most 1,000 per remote address wait for the look-up of this key, so that requests of other addresses can wait too", async () => {
  const valid = accounts.addKey();
  accounts.latencyMs = 500;
  const results = Array.from({ length: 10_000 }, () => admit(unknownKey));
  expect(results.filter((result) => result instanceof Promise)).toHaveLength(1_000);
  const other = admit(valid, undefined, "192.0.2.2");
  await pass(502);
  expect(await other).toMatchObject({ kind: "admitted" });
  expect(new Set(await kinds(results))).toEqual(new Set(["rate_limited", "unauthenticated"]));
});

test("look-ups of API keys that turn out to be valid or that the accounts service does not answer do not count towards the limit of their remote address", async () => {
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

test("while the accounts service does not answer, cached API keys work for 5 s after their last answer and unknown API keys are refused", async () => {
  const key = accounts.addKey();
  await admitted(key);
  expect(spendPrepaid(key)).toBe(7);
  await pass(2);
  accounts.state = "refusing";
  const asked = Date.now();
  await admitted(key);
  expect(await admitted(newKey())).toEqual({ kind: "unavailable", retryAfterSeconds: 1 });
  await pass(asked + 4990 - Date.now());
  expect(await admitted(key)).toMatchObject({ kind: "admitted", limit: { policy: "workspace" } });
  await pass(10);
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

test("during an outage of the accounts service, a workspace can use its remaining requests and gets new ones at its usual rate", async () => {
  const key = accounts.addKey();
  accounts.setBucket(WORKSPACE, 600, 5);
  await admitted(key);
  accounts.state = "refusing";
  expect(await kindsOf(10, key)).toEqual({ admitted: 4, rate_limited: 6 });
  await pass(50);
  expect(admit(key)).toMatchObject({ kind: "rate_limited", retryAfterSeconds: 1 });
  await pass(49);
  expect(await kindsOf(5, key)).toEqual({ admitted: 1, rate_limited: 4 });
});

test("requests admitted during an outage of the accounts service are deducted from the requests that the service grants next", async () => {
  const key = accounts.addKey();
  await admitted(key);
  spendPrepaid(key);
  await pass(2);
  accounts.state = "refusing";
  expect(await kindsOf(107, key)).toEqual({ admitted: 107 });
  const before = accounts.granted;
  accounts.state = "up";
  await pass(100);
  expect(await admitted(key)).toMatchObject({ kind: "admitted" });
  expect(accounts.granted - before).toBeGreaterThanOrEqual(101);
});

test("after an outage of the accounts service, every request that waits for the first call to this service is admitted, even if the gateway admits many other requests without a call while the first call runs", async () => {
  const key = accounts.addKey();
  await admitted(key);
  spendPrepaid(key);
  await pass(2);
  accounts.state = "refusing";
  expect(await kindsOf(10, key)).toEqual({ admitted: 10 });
  accounts.state = "up";
  accounts.latencyMs = 400;
  await pass(100);
  const first = admit(key);
  await pass(3);
  for (let count = 0; count < 50; count += 1)
    expect(admit(key)).toMatchObject({ kind: "admitted" });
  await pass(402);
  expect(await first).toMatchObject({ kind: "admitted" });
});

test("after an outage of the accounts service, an uncached API key is admitted, even if another API key of the workspace made many requests during the outage", async () => {
  const [one, two] = [accounts.addKey(), accounts.addKey()];
  await admitted(one);
  accounts.state = "refusing";
  expect(await kindsOf(50, one)).toEqual({ admitted: 50 });
  accounts.state = "up";
  await pass(100);
  expect(await admitted(two)).toMatchObject({ kind: "admitted" });
});

test("when the answer of the accounts service is lost, the requests that this answer granted are never used, and requests that earlier answers granted stay usable", async () => {
  const [one, two] = [accounts.addKey(), accounts.addKey()];
  await admitted(one);
  accounts.state = "losing";
  expect(await admitted(two)).toEqual({ kind: "unavailable", retryAfterSeconds: 1 });
  accounts.state = "up";
  for (let count = 0; count < 7; count += 1) expect(admit(one)).toMatchObject({ kind: "admitted" });
});

type Step =
  | {
      readonly do: "request";
      readonly key: number;
      readonly named: boolean;
      readonly count: number;
    }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "slow"; readonly ms: number }
  | { readonly do: "turn"; readonly state: TestAccounts["state"] };

const calm = [
  fc.record({
    do: fc.constant("request" as const),
    key: fc.nat({ max: 1 }),
    named: fc.boolean(),
    count: fc.integer({ min: 1, max: 40 }),
  }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.oneof(fc.nat(5), fc.nat(4000)) }),
  fc.record({ do: fc.constant("slow" as const), ms: fc.nat(60) }),
];
const stormy = fc.record({
  do: fc.constant("turn" as const),
  state: fc.constantFrom("up" as const, "refusing" as const, "losing" as const),
});

const long = { maxLength: 60, size: "max" } as const;
/**
 * Generous timeout of the property tests, because 100 runs take many seconds on a busy machine and would continue
 * during the next test.
 */
const PROPERTY_MS = 60_000;

/** Runs the steps of a property test and reports after each step how many requests were admitted. */
async function play(steps: readonly Step[], check: (admitted: number) => void): Promise<number> {
  start();
  accounts.setBucket(WORKSPACE, 120);
  const keys = [accounts.addKey(), accounts.addKey()];
  const results: Promise<void>[] = [];
  let count = 0;
  const note = (result: AdmissionResult): void => {
    if (result.kind !== "admitted") return;
    count += 1;
    check(count);
  };
  for (const step of steps)
    if (step.do === "pass") await pass(step.ms);
    else if (step.do === "slow") accounts.latencyMs = step.ms;
    else if (step.do === "turn") accounts.state = step.state;
    else
      for (let index = 0; index < step.count; index += 1) {
        const result = admit(keys[step.key], step.named ? WORKSPACE : undefined);
        if (result instanceof Promise) results.push(result.then(note));
        else note(result);
      }

  accounts.state = "up";
  await pass(5000);
  await Promise.all(results);
  // Sends requests until all requests that were admitted during the outage have been deducted.
  for (let round = 0; round < 8; round += 1) {
    for (let index = 0; index < 20; index += 1)
      results.push(Promise.resolve(admit(keys[0])).then(note));
    await pass(round % 2 === 0 ? 100 : 40_000);
  }
  await Promise.all(results);
  const leaving = admission[Symbol.asyncDispose]();
  await pass(1000);
  await leaving;
  return count;
}

test(
  "the gateway admits only requests that the accounts service granted, in whatever order requests, answers and outages follow each other",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(...calm), long), async (steps) => {
        const total = await play(steps, (admittedNow) => {
          expect(admittedNow).toBeLessThanOrEqual(accounts.granted - accounts.givenBack);
        });
        expect(total).toBe(accounts.granted - accounts.givenBack);
      }),
      { numRuns: 100 },
    );
  },
  PROPERTY_MS,
);

test(
  "outages and lost answers of the accounts service never let a workspace make more requests in the long run than its rate limit allows",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(...calm, stormy), long), async (steps) => {
        const total = await play(steps, () => undefined);
        expect(total).toBeLessThanOrEqual(accounts.granted - accounts.givenBack);
      }),
      { numRuns: 100 },
    );
  },
  PROPERTY_MS,
);
