import { expect, test } from "vitest";
import { Gatherer } from "./gatherer.ts";

interface Item {
  readonly name: string;
  readonly owner: string;
  readonly claims: readonly string[];
  readonly bytes: number;
}

class Refused extends Error {}

const item = (name: string, change: Partial<Item> = {}): Item => ({
  name,
  owner: "owner",
  claims: [],
  bytes: 1,
  ...change,
});

/**
 * A gatherer whose batches end when the test says so. A batch with an item that is named `bad`
 * fails.
 */
function startGatherer(options: { readonly isHeld?: boolean } = {}) {
  const batches: string[][] = [];
  const held = Promise.withResolvers<void>();
  if (options.isHeld !== true) held.resolve();
  const gatherer = new Gatherer<Item, string>({
    handle: async (items) => {
      batches.push(items.map(({ name }) => name));
      await held.promise;
      if (items.some(({ name }) => name.startsWith("lost"))) throw new Error("connection lost");
      if (items.some(({ name }) => name.startsWith("bad"))) throw new Refused();
      return items.map(({ name }) => `result of ${name}`);
    },
    isOfItem: (error) => error instanceof Refused,
  });
  return { gatherer, batches, release: held.resolve };
}

/** Resolves after everything that was submitted so far has been started if a batch is free. */
async function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(() => setImmediate(resolve));
  await promise;
}

test("a first item is handled in the same turn of the event loop, and what arrives while two batches are handled shares the next batch", async () => {
  const { gatherer, batches, release } = startGatherer({ isHeld: true });
  const first = gatherer.submit(item("a"));
  await nextTurn();
  expect(batches).toEqual([["a"]]);
  const second = gatherer.submit(item("b"));
  await nextTurn();
  const others = ["c", "d", "e"].map((name) => gatherer.submit(item(name)));
  await nextTurn();
  expect(batches).toEqual([["a"], ["b"]]);
  release();
  expect(await Promise.all([first, second, ...others])).toEqual(
    ["a", "b", "c", "d", "e"].map((name) => `result of ${name}`),
  );
  expect(batches).toEqual([["a"], ["b"], ["c", "d", "e"]]);
});

test("items with a claim in common are handled one after the other, in the order in which they came, beside items without it", async () => {
  const { gatherer, batches, release } = startGatherer({ isHeld: true });
  const claimed = [
    item("a", { claims: ["key 1", "slot"] }),
    item("b", { claims: ["slot"] }),
    item("c", { claims: ["slot", "key 1"] }),
    item("d"),
  ];
  const all = claimed.map((each) => gatherer.submit(each));
  await nextTurn();
  expect(batches).toEqual([["a", "d"]]);
  release();
  expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"].map((name) => `result of ${name}`));
  expect(batches).toEqual([["a", "d"], ["b"], ["c"]]);
});

test("an item is handled after an earlier one with the same claim has failed", async () => {
  const { gatherer, batches } = startGatherer();
  const claims = ["key 1"];
  const first = gatherer.submit(item("lost", { claims }));
  const second = gatherer.submit(item("b", { claims }));
  await expect(first).rejects.toThrow("connection lost");
  expect(await second).toBe("result of b");
  expect(batches).toEqual([["lost"], ["b"]]);
});

test("a batch has at most 64 items and 512 KiB", async () => {
  const { gatherer, batches } = startGatherer();
  await Promise.all(Array.from({ length: 100 }, (_, index) => gatherer.submit(item(`${index}`))));
  expect(batches.map(({ length }) => length)).toEqual([64, 36]);
  batches.length = 0;
  const large = Array.from({ length: 4 }, (_, index) => item(`${index}`, { bytes: 200 * 1024 }));
  await Promise.all(large.map((each) => gatherer.submit(each)));
  expect(batches.map(({ length }) => length)).toEqual([2, 2]);
});

test("a bad item among 64 fails alone, costs at most 13 batches, and its owner's items are no longer handled with others", async () => {
  const { gatherer, batches } = startGatherer();
  const items = Array.from({ length: 64 }, (_, index) =>
    index === 40 ? item("bad", { owner: "attacker" }) : item(`${index}`),
  );
  const results = await Promise.allSettled(items.map((each) => gatherer.submit(each)));
  const failed = results.flatMap(({ status }, index) => (status === "rejected" ? [index] : []));
  expect(failed).toEqual([40]);
  expect(batches.length).toBeLessThanOrEqual(13);

  batches.length = 0;
  await Promise.allSettled(
    [item("x"), item("bad again", { owner: "attacker" }), item("y")].map((each) =>
      gatherer.submit(each),
    ),
  );
  expect(batches).toEqual([["bad again"], ["x", "y"]]);
});

test("an error that no single item has caused rejects every item of the batch, and nothing is handled twice", async () => {
  const { gatherer, batches } = startGatherer();
  const all = ["a", "lost", "b"].map((name) => gatherer.submit(item(name)));
  for (const each of all) await expect(each).rejects.toThrow("connection lost");
  expect(batches).toEqual([["a", "lost", "b"]]);
});

test("a batch is filled in turns, so an item of one owner is in the next batch although 500 items of another owner wait", async () => {
  const { gatherer, batches, release } = startGatherer({ isHeld: true });
  const many = Array.from({ length: 500 }, (_, index) => gatherer.submit(item(`${index}`)));
  await nextTurn();
  expect(batches.map(({ length }) => length)).toEqual([64, 64]);
  const [one, other] = ["other 1", "other 2"].map((owner) =>
    gatherer.submit(item(owner, { owner })),
  );
  release();
  expect(await Promise.all([one, other])).toEqual(["result of other 1", "result of other 2"]);
  await Promise.all(many);
  // The items of each owner keep their order.
  expect(batches[2]?.slice(0, 4)).toEqual(["128", "other 1", "other 2", "129"]);
  expect(batches.flat().filter((name) => !name.startsWith("other"))).toEqual(
    Array.from({ length: 500 }, (_, index) => `${index}`),
  );
});

test("at most two items of one owner that are handled alone run at a time, and items of another owner run beside them", async () => {
  const { gatherer, batches, release } = startGatherer({ isHeld: true });
  const many = Array.from({ length: 500 }, (_, index) => gatherer.submitAlone(item(`${index}`)));
  const other = gatherer.submitAlone(item("other", { owner: "other" }));
  await nextTurn();
  expect(batches).toEqual([["0"], ["1"], ["other"]]);
  release();
  expect(await other).toBe("result of other");
  expect(await Promise.all(many)).toHaveLength(500);
});

test("500 bad items of one owner make few batches with items of others fail, and the others are handled before the bad ones", async () => {
  const { gatherer, batches } = startGatherer();
  const ended: string[] = [];
  const submit = async (name: string, owner: string) => {
    await gatherer.submit(item(name, { owner })).catch(() => undefined);
    ended.push(name);
  };
  const bad = Array.from({ length: 500 }, (_, index) => submit(`bad ${index}`, "attacker"));
  const good = Array.from({ length: 5 }, (_, index) => submit(`good ${index}`, `owner ${index}`));
  await Promise.all([...bad, ...good]);
  const shared = batches.filter(
    (names) => names.length > 1 && names.some((name) => name.startsWith("bad")),
  );
  expect(shared.length).toBeLessThanOrEqual(14);
  expect(ended.findIndex((name) => name === "good 4")).toBeLessThan(100);
  expect(ended).toHaveLength(505);
});
