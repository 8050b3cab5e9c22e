import { notFound, unprocessable } from "@postrider/shared/errors";
import type { InjectOptions } from "fastify";
import { afterAll, expect, test } from "vitest";
import { faults, summary, type ErrorBody } from "./error-body.ts";
import { ACCOUNT_ID, WORKSPACE_ID } from "./fixture.ts";
import { createRecordingServer } from "./recording-server.ts";

const RULE_ID = "01936a5e-7d2b-7000-8000-00000000000c";
const PATH = `/api/v1/queue-slots/${RULE_ID}`;
const RULE = {
  id: RULE_ID,
  name: "Mornings",
  weekdays: ["mon", "fri"],
  times: ["09:30", "18:00"],
  timezone: "Europe/Berlin",
  startsOn: "2026-11-01",
  status: "active",
  nextSlots: [{ seconds: 1_795_163_400n, nanos: 0 }],
  createdAt: { seconds: 1_795_000_000n, nanos: 5_000_000 },
  updatedAt: { seconds: 1_795_000_001n, nanos: 0 },
};
const RECORD = {
  ...RULE,
  endsOn: null,
  nextSlots: ["2026-11-20T08:30:00.000Z"],
  createdAt: "2026-11-18T11:06:40.005Z",
  updatedAt: "2026-11-18T11:06:41.000Z",
};
const body = {
  name: "Mornings",
  weekdays: ["fri", "mon"],
  times: ["18:00", "09:30"],
  timezone: "Europe/Berlin",
};

const server = await createRecordingServer((answer) => ({
  queueSlots: {
    listQueueSlotRules: (request) => answer(request, { rules: [RULE] }),
    createQueueSlotRule: (request) =>
      answer(request, { rule: RULE, replayed: request.idempotency !== undefined }),
    updateQueueSlotRule: (request) => answer(request, { rule: RULE }),
    deleteQueueSlotRule: (request) => answer(request, {}),
  },
  quota: {
    getQuota: (request) =>
      answer(request, {
        monthly: {
          period: "2026-11",
          limit: 1000n,
          used: 12n,
          reserved: 3n,
          remaining: 985n,
          resetsAt: { seconds: 1_796_083_200n, nanos: 0 },
          released: 4n,
          maxReleased: 20_000n,
        },
        dailyLimits: [
          {
            platform: "instagram",
            accountId: ACCOUNT_ID,
            scope: "account",
            limit: 50n,
            used: 50n,
            reserved: 0n,
            remaining: 0n,
            resetsAt: { seconds: 1_795_219_200n, nanos: 0 },
          },
        ],
      }),
  },
}));
afterAll(() => server[Symbol.asyncDispose]());

const create = (payload: object = body, headers = {}): InjectOptions => ({
  method: "POST",
  url: "/api/v1/queue-slots",
  headers,
  payload,
});
const patch = (payload: object): InjectOptions => ({ method: "PATCH", url: PATH, payload });

test("GET /quota shows the monthly quota and each account's daily limit as numbers", async () => {
  const answer = await server.send({ url: "/api/v1/quota" });
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({
    monthly: {
      period: "2026-11",
      limit: 1000,
      used: 12,
      reserved: 3,
      remaining: 985,
      resetsAt: "2026-12-01T00:00:00.000Z",
      released: 4,
      maxReleased: 20_000,
    },
    dailyLimits: [
      {
        platform: "instagram",
        accountId: ACCOUNT_ID,
        scope: "account",
        limit: 50,
        used: 50,
        reserved: 0,
        remaining: 0,
        resetsAt: "2026-11-21T00:00:00.000Z",
      },
    ],
  });
  expect(server.seen()).toMatchObject([{ workspaceId: WORKSPACE_ID }]);
});

test("GET /queue-slots lists queue slot rules with all their fields", async () => {
  const answer = await server.send({ url: "/api/v1/queue-slots" });
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({ rules: [RECORD] });
});

test("POST /queue-slots answers 201 with the queue slot rule and no Location header, because no operation reads a single rule", async () => {
  const answer = await server.send(create());
  expect([answer.statusCode, answer.headers.location]).toEqual([201, undefined]);
  expect(answer.headers).not.toHaveProperty("idempotent-replayed");
  expect(answer.json()).toEqual(RECORD);
  expect(server.seen()).toEqual([
    {
      $typeName: "postrider.posts.v1.CreateQueueSlotRuleRequest",
      workspaceId: WORKSPACE_ID,
      name: "Mornings",
      weekdays: ["fri", "mon"],
      times: ["18:00", "09:30"],
      timezone: "Europe/Berlin",
    },
  ]);
});

test("POST /queue-slots creates one queue slot rule per idempotency key, whatever the order of the fields in the request body", async () => {
  const first = await server.send(create(body, { "idempotency-key": "k-1" }));
  expect([first.statusCode, first.headers["idempotent-replayed"]]).toEqual([201, "true"]);
  const [before] = server.seen();
  const reversed = Object.fromEntries(Object.entries(body).toReversed());
  await server.send(create(reversed, { "idempotency-key": "k-1" }));
  expect(server.seen()).toEqual([before]);
  expect(before).toMatchObject({
    idempotency: { key: "k-1", fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
  });
  const refused = await server.send(create(body, { "idempotency-key": "k 1" }));
  expect(summary(refused)).toEqual([400, "invalid_request"]);
});

test.each([
  [{ startsOn: null, endsOn: null }, {}],
  [
    { startsOn: "2028-02-29", endsOn: "2028-02-29" },
    { startsOn: "2028-02-29", endsOn: "2028-02-29" },
  ],
])(
  "POST /queue-slots accepts the first and last date %j of a queue slot rule",
  async (period, expected) => {
    const answer = await server.send(create({ ...body, ...period }));
    expect(answer.statusCode).toBe(201);
    const { startsOn, endsOn } = server.seen()[0] as { startsOn?: string; endsOn?: string };
    expect({ startsOn, endsOn }).toEqual({ startsOn: undefined, endsOn: undefined, ...expected });
  },
);

const all = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const faulty: readonly [object, string[]][] = [
  [{ name: "" }, ["too_short /name"]],
  [{ name: "x".repeat(201) }, ["too_long /name"]],
  [{ name: null }, ["type /name"]],
  [{ weekdays: [] }, ["min_items /weekdays"]],
  [{ weekdays: [...all, "mon"] }, ["max_items /weekdays", "unique /weekdays/7"]],
  [{ weekdays: ["mon", "Mon"] }, ["not_allowed /weekdays/1"]],
  [{ weekdays: "mon" }, ["type /weekdays"]],
  [{ times: [] }, ["min_items /times"]],
  [{ times: ["09:30", "09:30"] }, ["unique /times/1"]],
  [
    { times: ["9:30", "24:00", "12:60", "12:00:00"] },
    [0, 1, 2, 3].map((at) => `format /times/${at}`),
  ],
  [
    { times: Array.from({ length: 49 }, (_, minute) => `12:${`${minute}`.padStart(2, "0")}`) },
    ["max_items /times"],
  ],
  [{ timezone: null }, ["type /timezone"]],
  [{ startsOn: "2026-02-29" }, ["format /startsOn"]],
  [{ endsOn: "2026-11-20T00:00:00Z" }, ["format /endsOn"]],
  [{ endsOn: "" }, ["format /endsOn"]],
  [{ surprise: 1 }, ["additional_property /surprise"]],
];

test.each(faulty)(
  "the fields %j are refused when a queue slot rule is created and when it is changed",
  async (fault, expected) => {
    for (const request of [create({ ...body, ...fault }), patch(fault)]) {
      const answer = await server.send(request);
      expect(summary(answer)).toEqual([400, "invalid_request"]);
      expect(faults(answer)).toEqual(expected);
      expect(server.seen()).toEqual([]);
    }
  },
);

test("a new queue slot rule requires name, weekdays, times and time zone, and must not contain a status", async () => {
  const answer = await server.send(create({ status: "paused" }));
  expect(faults(answer)).toEqual([
    "additional_property /status",
    "required /name",
    "required /times",
    "required /timezone",
    "required /weekdays",
  ]);
});

test.each([
  [{ name: "N" }, { name: "N" }],
  [{ weekdays: ["sun"] }, { weekdays: ["sun"] }],
  [{ times: ["00:00"] }, { times: ["00:00"] }],
  [{ timezone: "UTC" }, { timezone: "UTC" }],
  [{ status: "paused" }, { status: "paused" }],
  [
    { startsOn: null, endsOn: "2026-12-31" },
    { startsOn: "", endsOn: "2026-12-31" },
  ],
  [{ endsOn: null }, { endsOn: "" }],
])("PATCH /queue-slots/{id} accepts the change %j", async (payload, expected) => {
  const answer = await server.send(patch(payload));
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual(RECORD);
  expect(server.seen()).toEqual([
    {
      $typeName: "postrider.posts.v1.UpdateQueueSlotRuleRequest",
      workspaceId: WORKSPACE_ID,
      id: RULE_ID,
      weekdays: [],
      times: [],
      ...expected,
    },
  ]);
});

test.each([
  [{}, ["min_properties "]],
  [{ status: "revoked" }, ["not_allowed /status"]],
  [{ status: null }, ["type /status"]],
])("PATCH /queue-slots/{id} refuses the change %j", async (payload, expected) => {
  const answer = await server.send(patch(payload));
  expect(summary(answer)).toEqual([400, "invalid_request"]);
  expect(faults(answer)).toEqual(expected);
});

test("DELETE /queue-slots/{id} answers 204 without a body", async () => {
  const answer = await server.send({ method: "DELETE", url: PATH });
  expect([answer.statusCode, answer.body]).toEqual([204, ""]);
  expect(server.seen()).toMatchObject([{ workspaceId: WORKSPACE_ID, id: RULE_ID }]);
});

test("an unknown queue slot rule is answered with 404", async () => {
  for (const method of ["PATCH", "DELETE"] as const) {
    const payload = method === "PATCH" ? { name: "N" } : undefined;
    const request = { method, ...(payload === undefined ? {} : { payload }) };
    const unknown = await server.send({ ...request, url: PATH }, { error: notFound() });
    expect(summary(unknown)).toEqual([404, "not_found"]);
    const noId = await server.send({ ...request, url: "/api/v1/queue-slots/x" });
    expect(summary(noId)).toEqual([404, "not_found"]);
    expect(server.seen()).toEqual([]);
  }
});

test("a request that would create one queue slot rule more than the maximum is refused", async () => {
  const error = unprocessable("validation_failed", [{ code: "too_many_rules", limit: 100 }]);
  const answer = await server.send(create(), { error });
  expect(summary(answer)).toEqual([422, "validation_failed"]);
  expect(answer.json<ErrorBody>().error.details).toEqual([
    {
      code: "too_many_rules",
      message:
        "The workspace has too many rules of this kind: at most 100. Delete or revoke one first.",
      limit: 100,
      unit: "rules",
    },
  ]);
});

test("reading queue slot rules requires the scope posts:read, and changing them posts:write and a verified workspace", async () => {
  const reader = { scopes: ["posts:read"], verified: false };
  for (const url of ["/api/v1/queue-slots", "/api/v1/quota"]) {
    expect((await server.send({ url }, reader)).statusCode).toBe(200);
    const answer = await server.send({ url }, { scopes: [] });
    expect(summary(answer)).toEqual([403, "insufficient_scope"]);
  }
  for (const request of [create({}), patch({}), { method: "DELETE", url: PATH } as const]) {
    expect(summary(await server.send(request, reader))).toEqual([403, "insufficient_scope"]);
    const answer = await server.send(request, { verified: false });
    expect(summary(answer)).toEqual([403, "verification_required"]);
  }
});
