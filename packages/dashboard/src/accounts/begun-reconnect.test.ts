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

test("an address alone retries nothing: only the account whose reconnect was begun in this tab, once", () => {
  const storage = createStorage();
  expect(takeReconnect(storage, ["a"])).toEqual([]);
  noteReconnect(storage, "a");
  expect(takeReconnect(storage, ["a", "b"])).toEqual(["a"]);
  expect(takeReconnect(storage, ["a"])).toEqual([]);
});

test("a reconnect that was begun for another account retries nothing", () => {
  const storage = createStorage();
  noteReconnect(storage, "a");
  expect(takeReconnect(storage, ["b"])).toEqual([]);
});
