import { expect, test } from "vitest";
import { noteReconnect, takeReconnect } from "./begun-reconnect.ts";

function createStorage() {
  const items = new Map<string, string>();
  return {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => void items.set(name, value),
    removeItem: (name: string) => void items.delete(name),
  };
}

const retry = { accountId: "a", codes: ["permission_missing"], postId: "p" };

test("an address alone retries nothing: only what was noted in this tab, once", () => {
  const storage = createStorage();
  expect(takeReconnect(storage, ["a"])).toBeUndefined();
  noteReconnect(storage, retry);
  expect(takeReconnect(storage, ["a", "b"])).toEqual(retry);
  expect(takeReconnect(storage, ["a"])).toBeUndefined();
});

test("a reconnect that was begun for another account retries nothing", () => {
  const storage = createStorage();
  noteReconnect(storage, retry);
  expect(takeReconnect(storage, ["b"])).toBeUndefined();
});

test("a reconnect that retries nothing ends what an earlier one, which was given up, would retry", () => {
  const storage = createStorage();
  noteReconnect(storage, retry);
  noteReconnect(storage, undefined);
  expect(takeReconnect(storage, ["a"])).toBeUndefined();
});
