import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { WorkspaceSchema } from "@postrider/contracts/accounts/v1/workspace_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decideMove, type MoveState, type MoveStep, targetOf } from "#src/move-steps.ts";

type Check = "handover" | "cell";

/** What the old cell and two other ones store, and refuse, as the accounts services do. */
class Cells {
  source: "working" | "frozen" | "moved" = "working";
  /** The number of the cell that the source is frozen for or moved to. */
  movesTo = 0;
  readonly targets = [0, 1].map(() => ({
    state: "absent" as MoveState["target"],
    /** The number of the move that is imported, and whether all of it is. */
    imported: 0,
    isComplete: false,
  }));
  /** The number of the move that the source is frozen for. */
  move = 0;
  readonly without: Check | undefined;

  constructor(without: Check | undefined) {
    this.without = without;
  }

  targetOf(cell: number) {
    const target = this.targets[cell];
    if (target === undefined) throw new Error("there is no such cell");
    return target;
  }

  isElsewhere(cell: number): boolean {
    return this.source !== "working" && this.movesTo !== cell && this.without !== "cell";
  }

  freeze(cell: number): void {
    if (this.source !== "working") return;
    this.source = "frozen";
    this.movesTo = cell;
    this.move += 1;
  }

  cancel(): void {
    if (this.source === "frozen") this.source = "working";
  }

  begin(cell: number, move: number): boolean {
    const target = this.targetOf(cell);
    if (target.state === "absent")
      Object.assign(target, { state: "importing", imported: move, isComplete: false });
    return target.state === "importing" && target.imported === move;
  }

  switchOver(cell: number, move: number): void {
    const isThis = this.move === move && !this.isElsewhere(cell);
    if (this.source === "frozen" && isThis) this.source = "moved";
  }

  /** The secret is told only by a source that is moved, and opens only the cell that it names. */
  release(cell: number): void {
    const target = this.targetOf(cell);
    const isNamed = this.source === "moved" && !this.isElsewhere(cell);
    const isProved = isNamed && target.imported === this.move;
    if (target.state === "importing" && (isProved || this.without === "handover"))
      target.state = "working";
  }

  deleteImport(cell: number): void {
    const target = this.targetOf(cell);
    if (target.state === "importing") target.state = "absent";
  }

  countWorking(): number {
    const states = [this.source, ...this.targets.map(({ state }) => state)];
    return states.filter((state) => state === "working").length;
  }
}

/** A run of the command. Between what it sees and what it does, anything else can happen. */
class Run {
  /** The numbers of the moves that it has seen quiet, and copied. */
  #known = { quiet: 0, copied: 0 };
  #plan: { readonly step: MoveStep; readonly move: number } | undefined;
  readonly cells: Cells;
  readonly cell: number;

  constructor(cells: Cells, cell: number) {
    this.cells = cells;
    this.cell = cell;
  }

  look(): void {
    const { source, move } = this.cells;
    const decision = decideMove({
      source: this.cells.isElsewhere(this.cell) ? "elsewhere" : source,
      target: this.cells.targetOf(this.cell).state,
      isQuiet: this.#known.quiet === move,
      isCopied: this.#known.copied === move,
      hasExport: true,
      isJustRestored: false,
      isGivenUp: false,
    });
    this.#plan = decision.kind === "step" ? { step: decision.step, move } : undefined;
  }

  act(): void {
    const { cells, cell } = this;
    const { step, move = 0 } = this.#plan ?? {};
    if (step === "freeze") cells.freeze(cell);
    if (step === "wait") this.#known.quiet = move;
    if (step === "copy" && cells.begin(cell, move)) {
      cells.targetOf(cell).isComplete = true;
      this.#known.copied = move;
    }
    if (step === "switch") cells.switchOver(cell, move);
    if (step === "release") cells.release(cell);
    this.#plan = undefined;
  }

  kill(): void {
    this.#known = { quiet: 0, copied: 0 };
    this.#plan = undefined;
  }
}

/** Two runs move to the first cell, one to the second. */
const RUNS = [0, 0, 1] as const;

/** Most of them lead on, so that the others meet a move at each of its steps. */
const EVENTS = [
  ...Array.from("00001122", (run) => `step ${run}`),
  ...RUNS.flatMap((_cell, run) => [`look ${run}`, `act ${run}`, `kill ${run}`]),
  "cancel",
  "release 0",
  "release 1",
  "delete 0",
  "delete 1",
];

/** Plays events of runs and of people, and tells whether two cells ever published together. */
function play(events: readonly string[], without?: Check) {
  const cells = new Cells(without);
  const runs = RUNS.map((cell) => new Run(cells, cell));
  let wereTwoWorking = false;
  for (const event of events) {
    const [what, text] = event.split(" ");
    const number = Number(text);
    if (what === "look" || what === "step") runs[number]?.look();
    if (what === "act" || what === "step") runs[number]?.act();
    if (what === "kill") runs[number]?.kill();
    if (what === "cancel") cells.cancel();
    if (what === "release") cells.release(number);
    if (what === "delete") cells.deleteImport(number);
    if (cells.countWorking() > 1) wereTwoWorking = true;
  }
  return { cells, wereTwoWorking };
}

const events = fc.array(fc.constantFrom(...EVENTS), { maxLength: 40, size: "max" });

test("whatever is killed, repeated, cancelled or run by hand beside it, also to a third cell, a workspace never works in two cells", () => {
  fc.assert(
    fc.property(events, (given) => {
      expect(play(given).wereTwoWorking).toBe(false);
    }),
    { numRuns: 10_000 },
  );
});

test("after any events, one more run leads to one working cell, once what an earlier move has left is deleted", () => {
  fc.assert(
    fc.property(events, (given) => {
      const { cells } = play(given);
      const cell = cells.source === "working" ? 0 : cells.movesTo;
      const target = cells.targetOf(cell);
      if (target.imported !== cells.move || cells.source === "working") cells.deleteImport(cell);
      const run = new Run(cells, cell);
      for (let step = 0; step < 10; step += 1) {
        run.look();
        run.act();
      }
      expect([cells.source, target]).toMatchObject([
        "moved",
        { state: "working", isComplete: true },
      ]);
    }),
    { numRuns: 2_000 },
  );
});

test.each(["handover", "cell"] as const)(
  "without the check of the %s the same events make two cells work",
  (without) => {
    const naive = fc.check(
      fc.property(events, (given) => !play(given, without).wereTwoWorking),
      { numRuns: 20_000 },
    );
    expect(naive.failed).toBe(true);
  },
);

const STATE = {
  source: "working",
  target: "absent",
  isQuiet: false,
  isCopied: false,
  hasExport: false,
  isJustRestored: false,
  isGivenUp: false,
} as const;

test.each<[string, Partial<MoveState>, string]>([
  ["a workspace that is being deleted", { source: "stopped" }, "invalid_transition"],
  ["a workspace of a cell that was just restored", { isJustRestored: true }, "just_restored"],
  ["a workspace that does not exist", { source: "absent" }, "not_found"],
  ["a workspace with which the other cell works", { target: "working" }, "works_elsewhere"],
  ["a frozen one there", { source: "frozen", target: "working" }, "works_elsewhere"],
  ["one that no other cell has, and is given up", { isGivenUp: true }, "invalid_transition"],
  ["one that is moved to a third cell", { source: "elsewhere" }, "other_cell"],
  ["a moved one that is not there, without its export", { source: "moved" }, "not_found"],
  ["one of which an earlier move has left a part", { target: "importing" }, "already_exists"],
  [
    "a moved one that is being deleted there",
    { source: "moved", target: "stopped" },
    "invalid_transition",
  ],
])("%s is not moved", (_title, state, code) => {
  expect(decideMove({ ...STATE, ...state })).toMatchObject({ kind: "refused", code });
});

test("a workspace that was moved and removed here is done", () => {
  for (const source of ["moved", "absent"] as const)
    expect(decideMove({ ...STATE, target: "working", source })).toEqual({
      kind: "step",
      step: "done",
    });
});

test("a workspace that has left the other cell does not work there, so nothing is given up to it", () => {
  const move = { cell: "us1", movedAt: timestampFromDate(new Date()) };
  expect(targetOf(create(WorkspaceSchema, { move }))).toBe("stopped");
  expect(targetOf(create(WorkspaceSchema))).toBe("working");
});

test("after the switch the folder is not needed: the import that is there ends", () => {
  const moved = { ...STATE, source: "moved", target: "importing" } as const;
  expect(decideMove(moved)).toEqual({ kind: "step", step: "release" });
  expect(decideMove({ ...moved, hasExport: true })).toEqual({ kind: "step", step: "copy" });
});

test("a cell that was restored to before the switch gives the workspace up, and nothing is deleted in the other one", () => {
  const given = { ...STATE, target: "working", isGivenUp: true } as const;
  const steps = (["working", "frozen", "moved"] as const).map((source) =>
    decideMove({ ...given, source }),
  );
  expect(steps).toMatchObject([{ step: "freeze" }, { step: "switch" }, { step: "done" }]);
  const kept = decideMove({ ...given, isGivenUp: false });
  expect(kept).toMatchObject({ message: expect.stringContaining("do not delete it there") });
});
