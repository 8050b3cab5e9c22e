import { invalidRequest, notFound } from "@postrider/shared/errors";
import { afterAll, expect, test } from "vitest";
import { ACCOUNT_ID, admitted, createSharedServer, WORKSPACE_ID } from "./fixture.ts";

const shared = await createSharedServer();
afterAll(() => shared.app.close());

const URL = `/api/v1/accounts/${ACCOUNT_ID}/settings`;

const TIKTOK = {
  accountId: ACCOUNT_ID,
  platform: "tiktok",
  settings: {
    allowComment: false,
    allowDuet: true,
    allowStitch: false,
    disclosure: "none",
    autoAddMusic: false,
    unlistedAs: "only_me",
  },
  available: {
    audiences: ["public", "only_me"],
    allowComment: true,
    allowDuet: true,
    allowStitch: false,
    maxVideoSeconds: 600,
  },
};
const YOUTUBE = {
  accountId: ACCOUNT_ID,
  platform: "youtube",
  settings: {
    categoryId: "22",
    madeForKids: false,
    notifySubscribers: true,
    license: "youtube",
    playlistId: null,
  },
  available: null,
};
const INSTAGRAM = {
  accountId: ACCOUNT_ID,
  platform: "instagram",
  settings: { imageFit: "pad", shareToFeed: true },
  available: null,
};

function toMessage({
  settings,
  available,
  ...record
}: typeof TIKTOK | typeof YOUTUBE | typeof INSTAGRAM) {
  return {
    ...record,
    settings: JSON.stringify(settings),
    available: available === null ? "" : JSON.stringify(available),
  };
}

const patch = (payload: unknown, headers = { "content-type": "application/json" }) =>
  shared.app.inject({
    method: "PATCH",
    url: URL,
    headers,
    payload: typeof payload === "string" ? payload : JSON.stringify(payload),
  });

test.each([TIKTOK, YOUTUBE, INSTAGRAM])(
  "GET /accounts/{id}/settings returns all settings of an account of $platform, and the options that the platform allows the account",
  async (record) => {
    const seen: unknown[] = [];
    shared.use({
      accountSettings: {
        getAccountSettings: ({ ref }) => {
          seen.push([ref?.workspaceId, ref?.accountId]);
          return { settings: toMessage(record) };
        },
      },
    });
    const answer = await shared.app.inject({ url: URL });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual(record);
    expect(seen).toEqual([[WORKSPACE_ID, ACCOUNT_ID]]);
  },
);

test("PATCH /accounts/{id}/settings passes the patch with its nulls and returns the settings", async () => {
  const seen: unknown[] = [];
  shared.use({
    accountSettings: {
      updateAccountSettings: ({ ref, patch: text }) => {
        seen.push([ref?.workspaceId, ref?.accountId, JSON.parse(text)]);
        return { settings: toMessage(YOUTUBE) };
      },
    },
  });
  const answer = await patch({ playlistId: null, license: "youtube" });
  expect([answer.statusCode, answer.json()]).toEqual([200, YOUTUBE]);
  expect(seen).toEqual([[WORKSPACE_ID, ACCOUNT_ID, { playlistId: null, license: "youtube" }]]);
});

test.each([
  [{}, "min_properties", ""],
  [[], "type", ""],
  [null, "type", ""],
  [{ color: "red" }, "additional_property", "/color"],
  [{ unlistedAs: "public" }, "not_allowed", "/unlistedAs"],
  [{ allowDuet: "true" }, "type", "/allowDuet"],
  [{ languages: ["en", "de", "fr", "ko"] }, "max_items", "/languages"],
  [{ languages: ["not a language"] }, "format", "/languages/0"],
  [{ playlistId: "x".repeat(65) }, "too_long", "/playlistId"],
])("PATCH /accounts/{id}/settings refuses the body %j with %s at %j", async (body, code, path) => {
  shared.use({});
  const answer = await patch(body);
  expect(answer.statusCode).toBe(400);
  const { error } = answer.json<{ error: { code: string; details: object[] } }>();
  expect(error.code).toBe("invalid_request");
  expect(error.details).toContainEqual(expect.objectContaining({ code, path }));
});

test("PATCH /accounts/{id}/settings refuses a missing body, malformed JSON and content types other than JSON", async () => {
  shared.use({});
  expect((await shared.app.inject({ method: "PATCH", url: URL })).statusCode).toBe(400);
  expect((await patch("{")).statusCode).toBe(400);
  expect((await patch("{}", { "content-type": "text/plain" })).statusCode).toBe(415);
});

test("when the accounts service refuses to read or change account settings, the gateway answers with the error of that service", async () => {
  shared.use({
    accountSettings: {
      getAccountSettings: () => {
        throw notFound();
      },
      updateAccountSettings: () => {
        throw invalidRequest([{ code: "additional_property", path: "/allowDuet" }]);
      },
    },
  });
  expect((await shared.app.inject({ url: URL })).statusCode).toBe(404);
  const answer = await patch({ allowDuet: true });
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({
    error: {
      code: "invalid_request",
      details: [{ code: "additional_property", path: "/allowDuet" }],
    },
  });
});

test("reading account settings needs the scope accounts:read, changing them accounts:write, and an unverified workspace can change them", async () => {
  shared.use({}, () => admitted({ scopes: new Set(["posts:read", "posts:write"]) }));
  expect((await shared.app.inject({ url: URL })).statusCode).toBe(403);
  shared.use({}, () => admitted({ scopes: new Set(["accounts:read"]) }));
  expect((await patch({ allowDuet: true })).statusCode).toBe(403);
  const accountSettings = { updateAccountSettings: () => ({ settings: toMessage(TIKTOK) }) };
  shared.use({ accountSettings }, () => admitted({ verified: false }));
  expect((await patch({ allowDuet: true })).statusCode).toBe(200);
});
