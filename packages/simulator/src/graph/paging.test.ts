import { expect, test } from "vitest";
import { pageOf } from "#src/graph/paging.ts";
import { GraphParameters } from "#src/graph/parameters.ts";
import { type Call, Refused } from "#src/http/call.ts";

function* endless(read: string[]): Generator<{ readonly id: string }> {
  for (let index = 0; ; index += 1) {
    read.push(String(index));
    yield { id: String(index) };
  }
}

const call: Call = {
  method: "GET",
  path: "/list",
  params: {},
  query: new URLSearchParams(),
  headers: {},
  body: Buffer.alloc(0),
  baseUrl: "http://127.0.0.1",
};
const parametersOf = (values: Readonly<Record<string, string>>) => ({
  call,
  parameters: new GraphParameters(new Map(Object.entries(values))),
});

test("for one page of a Graph API list, the simulator reads the items of that page and one more item", () => {
  const read: string[] = [];
  const first = pageOf(endless(read), parametersOf({ limit: "2" }));
  expect(first.items).toEqual([{ id: "0" }, { id: "1" }]);
  expect(read).toHaveLength(3);
  const { after } = (first.paging["paging"] as { cursors: { after: string } }).cursors;
  const second = pageOf(endless([]), parametersOf({ limit: "2", after }));
  expect(second.items).toEqual([{ id: "2" }, { id: "3" }]);
});

test("the simulator refuses a cursor of a Graph API list when the item that the cursor names no longer exists", () => {
  const page = () => pageOf([{ id: "1" }], parametersOf({ after: "Mg" }));
  expect(page).toThrow(Refused);
});
