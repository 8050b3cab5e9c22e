import { expect, test } from "vitest";
import { isWithin, SCOPES, seesEverything, toTags } from "./scopes.ts";

const WORDS = { all: "all", draftsOnly: "MCP drafts only" };

test("scopes are shown in the order of the list, and all of them as one word", () => {
  expect(toTags(["accounts:read", "posts:read"], WORDS)).toEqual(["posts:read", "accounts:read"]);
  expect(toTags([...SCOPES].toReversed(), WORDS)).toEqual(["all"]);
  expect(toTags(["mcp:drafts", "posts:write"], WORDS)).toEqual(["posts:write", "MCP drafts only"]);
});

test("with a scope for webhooks, a key sees everything in the workspace", () => {
  const seeing = SCOPES.filter((scope) => seesEverything([scope]));
  expect(seeing).toEqual(["webhooks:read", "webhooks:write"]);
});

test("a session may end what has at most its scopes, and nothing if an agent's key opened it", () => {
  const own = ["posts:read", "posts:write"];
  expect(isWithin(own, ["posts:read", "mcp:drafts"])).toBe(true);
  expect(isWithin(own, ["posts:read", "accounts:read"])).toBe(false);
  expect(isWithin([...own, "mcp:drafts"], ["posts:read"])).toBe(false);
});
