import { createLogger } from "@postrider/shared/telemetry/logger";
import { expect, test } from "vitest";
import { Recorder } from "./recorder.ts";

interface Entry {
  readonly id: number;
  readonly text: string;
}

const AS_IT_IS = { id: 1, text: "a" };
const OTHER = { id: 2, text: "b" };
const UNAVAILABLE = Object.assign(new Error("no connection"), { code: "ECONNREFUSED" });
/** An error of a statement. */
const TOO_SLOW = Object.assign(new Error("statement timeout"), { code: "57014", query: "" });
/**
 * Errors that do not come from the connection count as refusals, also those of Postrider's own
 * code.
 */
const REFUSED = new Error("refused");

/** A recorder whose writes `fault` refuses, and all that it does. */
function start(fault: (entries: readonly Entry[]) => Error | undefined, canEnd = false) {
  const written: (readonly Entry[])[] = [];
  const did: string[] = [];
  const recorder = new Recorder<Entry, string>({
    logger: createLogger({ service: "delivery", level: "fatal" }),
    what: "the results",
    otherwise: "the work is repeated",
    identify: ({ id }) => ({ targetId: id }),
    windowMs: 1,
    maxEntries: 10,
    write: async (entries) => {
      written.push(entries);
      const error = fault(entries);
      if (error !== undefined) throw error;
      return entries.map(({ id, text }) => `${id}${text}`);
    },
    withoutText: (entry) => ({ ...entry, text: "" }),
    keep: async ({ id }) => void did.push(`kept ${id}`),
    endWithoutDecision: async () => canEnd,
    unrecorded: "unrecorded",
    onRefused: (recorded) => did.push(recorded),
  });
  return {
    written,
    did,
    record: () => Promise.all([recorder.record(AS_IT_IS), recorder.record(OTHER)]),
  };
}

test("results that are reported together are recorded together once the database is available again", async () => {
  let failures = 3;
  const { written, did, record } = start(() => (failures-- > 0 ? UNAVAILABLE : undefined));
  expect(await record()).toEqual(["1a", "2b"]);
  expect(written.map(({ length }) => length)).toEqual([2, 2, 2, 2]);
  expect(did).toEqual([]);
});

test("results that exceed a limit of the database together are recorded in halves", async () => {
  const { written, did, record } = start(({ length }) => (length > 1 ? TOO_SLOW : undefined));
  expect(await record()).toEqual(["1a", "2b"]);
  expect(written).toEqual([[AS_IT_IS, OTHER], [AS_IT_IS], [OTHER]]);
  expect(did).toEqual([]);
});

test("a result that exceeds a limit of the database alone is tried until it is recorded", async () => {
  let failures = 4;
  const { did, record } = start(() => (failures-- > 0 ? TOO_SLOW : undefined));
  expect(await record()).toEqual(["1a", "2b"]);
  expect(did).toEqual([]);
});

test("results that are refused only together are recorded one by one and unchanged", async () => {
  const { did, record } = start(({ length }) => (length > 1 ? REFUSED : undefined));
  expect(await record()).toEqual(["1a", "2b"]);
  expect(did).toEqual([]);
});

test("a result that the database refuses is kept, tried three times, then recorded without its text, while the other one is recorded at once", async () => {
  const { written, did, record } = start((entries) =>
    entries.some(({ text }) => text === "a") ? REFUSED : undefined,
  );
  expect(await record()).toEqual(["1", "2b"]);
  expect(written.slice(1)).toEqual([
    [AS_IT_IS],
    [OTHER],
    [AS_IT_IS],
    [AS_IT_IS],
    [{ id: 1, text: "" }],
  ]);
  expect(did).toEqual(["kept 1", "without_text"]);
});

test.each([
  { canEnd: true, instead: "without_decision" },
  { canEnd: false, instead: "nothing" },
])(
  "a result that is refused in every form is counted as $instead, and its worker goes on",
  async ({ canEnd, instead }) => {
    const { written, did, record } = start(
      (entries) => (entries.some(({ id }) => id === 1) ? REFUSED : undefined),
      canEnd,
    );
    expect(await record()).toEqual(["unrecorded", "2b"]);
    expect(written.filter(([first]) => first?.id === 1 && first.text === "")).toHaveLength(3);
    expect(did).toEqual(["kept 1", instead]);
  },
);
