import * as Schema from "typebox/schema";
import { afterAll, expect, test } from "vitest";
import { SCOPES } from "#src/routes/dependencies.ts";
import { EXAMPLE_IDS } from "#src/routes/description/examples/example.ts";
import { admitted, createTestServer, type Peers, POST } from "./fixture.ts";
import { COMMENT } from "./recording-server.ts";

interface Example {
  readonly $ref?: string;
  readonly value?: unknown;
}
interface Content {
  readonly schema: { readonly $ref: string };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example>>;
}
type Contents = Readonly<Record<string, Content>>;
interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Contents };
  readonly responses?: Readonly<Record<string, { readonly content?: Contents }>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;
interface Document {
  readonly paths: Paths;
  readonly webhooks: Paths;
  readonly components: { readonly examples: Readonly<Record<string, Example>> };
}

const JSON_TYPE = "application/json";
const AT = { seconds: 1_795_000_000n, nanos: 0 };
const TIMES = { createdAt: AT, updatedAt: AT };
const RULE = { id: EXAMPLE_IDS.rule, accountId: EXAMPLE_IDS.account, status: "draft", ...TIMES };
const WEBHOOK = { id: EXAMPLE_IDS.webhook, signing: "hmac-sha256", status: "active", ...TIMES };
const JOB = { id: EXAMPLE_IDS.rule, ruleId: EXAMPLE_IDS.rule, status: "ready", ...TIMES };
const MEDIA = { id: EXAMPLE_IDS.media, status: "ready", kind: "image", createdAt: AT };

/** Simulated services that accept every request. */
const ACCEPTING: Peers = {
  posts: {
    createPost: () => ({ post: POST }),
    validatePost: () => ({ targets: [] }),
    updatePost: () => ({ post: POST }),
    publishPost: () => ({ post: POST }),
  },
  media: {
    createUpload: () => ({ id: EXAMPLE_IDS.media, uploadPath: "a", expiresAt: AT }),
    importMedia: () => ({ media: MEDIA }),
    updateMedia: () => ({ media: MEDIA }),
  },
  accountSettings: {
    updateAccountSettings: () => ({
      settings: {
        accountId: EXAMPLE_IDS.account,
        platform: "x",
        settings: '{"replySettings":"everyone"}',
      },
    }),
  },
  queueSlots: {
    createQueueSlotRule: () => ({ rule: RULE }),
    updateQueueSlotRule: () => ({ rule: RULE }),
  },
  webhooks: {
    createWebhook: () => ({ webhook: WEBHOOK, secret: "whsec_a" }),
    updateWebhook: () => ({ webhook: WEBHOOK }),
  },
  comments: {
    requestCommentAction: () => ({ action: { id: EXAMPLE_IDS.rule, type: "reply", ...TIMES } }),
  },
  automations: {
    createAutomationRule: () => ({ rule: RULE }),
    updateAutomationRule: () => ({ rule: RULE }),
    createBackfill: () => ({ backfill: JOB, results: [{ comment: COMMENT, outcome: "prepared" }] }),
    updateBackfill: () => ({ backfill: JOB }),
  },
};

const app = await createTestServer(ACCEPTING, () => admitted({ scopes: new Set(SCOPES) }));
const document = (await app.inject({ url: "/api/v1/openapi.json" })).json<Document>();
afterAll(() => app.close());

/** Returns every operation of the API that has a JSON body in requests or answers. */
function operations() {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** Returns the examples of a request body or an answer body, each with its name. */
function examplesOf({ example, examples = {} }: Content): readonly (readonly [string, unknown])[] {
  const found = Object.entries(examples).map(([name, { $ref = "", value }]) => {
    const shared = document.components.examples[$ref.split("/").at(-1) ?? ""];
    return [name, value ?? shared?.value] as const;
  });
  return example === undefined ? found : [["example", example], ...found];
}

/** Compiled validators by the `$ref` of their schema, so that each schema is compiled once. */
const validators = new Map<string, ReturnType<typeof Schema.Compile>>();

function faultsOf(schema: Content["schema"], value: unknown): unknown {
  const { components } = document;
  const known = validators.get(schema.$ref) ?? Schema.Compile({ ...schema, components });
  validators.set(schema.$ref, known);
  const [isValid, faults] = known.Errors(value);
  return isValid ? [] : faults;
}

test("every example of the API description fits its schema", () => {
  const webhooks = Object.entries(document.webhooks).map(([path, { post }]) => ({
    path,
    operation: post,
  }));
  for (const { path, operation } of [...operations(), ...webhooks]) {
    const answers = Object.values(operation?.responses ?? {}).map(({ content }) => content);
    for (const contents of [operation?.requestBody?.content, ...answers]) {
      const content = contents?.[JSON_TYPE];
      if (content === undefined) continue;
      for (const [name, value] of examplesOf(content))
        expect(faultsOf(content.schema, value), `${path}: ${name}`).toEqual([]);
    }
  }
});

test("every operation with a JSON body has an example of the request, of the answer and of each error", () => {
  const without = operations().flatMap(({ operation: { operationId, requestBody, responses } }) => {
    const answers = Object.entries(responses ?? {}).filter(([status]) => status !== "default");
    const parts = [
      ["request", requestBody?.content[JSON_TYPE]] as const,
      ...answers.map(([status, { content }]) => [status, content?.[JSON_TYPE]] as const),
    ];
    return parts
      .filter(([, content]) => content !== undefined && examplesOf(content).length === 0)
      .map(([part]) => `${operationId} ${part}`);
  });
  expect(without).toEqual([]);
});

test("the server accepts every example of a request as it stands", async () => {
  const refused: string[] = [];
  for (const { path, method, operation } of operations()) {
    const content = operation.requestBody?.content[JSON_TYPE];
    if (content === undefined) continue;
    for (const [name, payload] of examplesOf(content)) {
      const { statusCode, body } = await app.inject({
        method: method.toUpperCase() as "POST",
        url: path.replaceAll(/\{\w+\}/g, EXAMPLE_IDS.post),
        payload: payload as object,
      });
      if (!(String(statusCode) in (operation.responses ?? {})) || statusCode >= 400)
        refused.push(`${operation.operationId} ${name}: ${statusCode} ${body}`);
    }
  }
  expect(refused).toEqual([]);
});

test("the API description says which fields of a request exclude each other", () => {
  const create = { $ref: "#/components/schemas/CreatePost" };
  const post = { content: "Hello", accountIds: [EXAMPLE_IDS.account] };
  const at = { scheduledAt: "2026-11-24T18:00:00Z" };
  const isValid = (schema: object, value: object) =>
    Schema.Check({ ...schema, components: document.components }, value);
  expect(isValid(create, { ...post, queueSlot: true })).toBe(true);
  expect(isValid(create, { ...post, queueSlot: true, ...at })).toBe(false);
  expect(isValid(create, { ...post, queueSlot: false, ...at })).toBe(true);
  expect(isValid(create, { ...post, queueSlot: true, isDraft: true })).toBe(false);
  expect(isValid(create, { ...post, queueSlot: true, isDraft: false })).toBe(true);
  expect(isValid(create, { ...post, isDraft: true, ...at })).toBe(true);
  const action = { $ref: "#/components/schemas/RequestCommentAction" };
  expect(isValid(action, { type: "reply", text: "Yes" })).toBe(true);
  expect(isValid(action, { type: "reply" })).toBe(false);
  expect(isValid(action, { type: "hide" })).toBe(true);
  expect(isValid(action, { type: "hide", text: "Yes" })).toBe(false);
});
