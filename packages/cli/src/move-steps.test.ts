import fc from "fast-check";
import { expect, test } from "vitest";
import { decideMove, type MoveState, type MoveStep } from "#src/move-steps.ts";

/** What the two cells store, and refuse, as the accounts services do. */
class Cells {
  source: "working" | "frozen" | "moved" = "working";
  target: MoveState["target"] = "absent";
  /** Numbers of the moves: which one the source is frozen for, and which one is imported. */
  move = 0;
  imported = 0;
  isComplete = false;
  readonly needsHandover: boolean;

  constructor(needsHandover: boolean) {
    this.needsHandover = needsHandover;
  }

  freeze(): void {
    if (this.source !== "working") return;
    this.source = "frozen";
    this.move += 1;
  }

  cancel(): void {
    if (this.source === "frozen") this.source = "working";
  }

  begin(move: number): boolean {
    if (this.target === "absent")
      [this.target, this.imported, this.isComplete] = ["importing", move, false];
    return this.target === "importing" && this.imported === move;
  }

  switchOver(move: number): void {
    if (this.source === "frozen" && this.move === move) this.source = "moved";
  }

  /** The secret is told only by a source that is moved. */
  release(): void {
    const isProved = this.source === "moved" && this.imported === this.move;
    if (this.target === "importing" && (isProved || !this.needsHandover)) this.target = "working";
  }

  deleteImport(): void {
    if (this.target === "importing") this.target = "absent";
  }
}

/** A run of the command. Between what it sees and what it does, anything else can happen. */
class Run {
  #known = { isQuiet: false, isCopied: false };
  #plan: { readonly step: MoveStep; readonly move: number } | undefined;
  readonly cells: Cells;

  constructor(cells: Cells) {
    this.cells = cells;
  }

  look(): void {
    const { source, target, move } = this.cells;
    const decision = decideMove({ source, target, ...this.#known });
    this.#plan = decision.kind === "step" ? { step: decision.step, move } : undefined;
  }

  act(): void {
    const { step, move } = this.#plan ?? {};
    if (step === "freeze") this.cells.freeze();
    if (step === "wait") this.#known.isQuiet = true;
    if (step === "copy" && this.cells.begin(move ?? 0)) {
      this.cells.isComplete = true;
      this.#known.isCopied = true;
    }
    if (step === "switch") this.cells.switchOver(move ?? 0);
    if (step === "release") this.cells.release();
    this.#plan = undefined;
  }

  kill(): void {
    this.#known = { isQuiet: false, isCopied: false };
    this.#plan = undefined;
  }
}

/** Most of them lead on, so that the others meet a move at each of its steps. */
const EVENTS = [
  "step 0",
  "step 0",
  "step 0",
  "step 0",
  "step 1",
  "step 1",
  "look 0",
  "act 0",
  "kill 0",
  "look 1",
  "act 1",
  "kill 1",
  "cancel",
  "release by hand",
  "delete the import",
] as const;

/** Plays events of two runs and of people; the names of cells that ever published together. */
function play(events: readonly string[], needsHandover = true) {
  const cells = new Cells(needsHandover);
  const runs = [new Run(cells), new Run(cells)];
  let wereBothWorking = false;
  for (const event of events) {
    const [what, number] = event.split(" ");
    const run = runs[Number(number)];
    if (what === "look" || what === "step") run?.look();
    if (what === "act" || what === "step") run?.act();
    if (what === "kill") run?.kill();
    if (event === "cancel") cells.cancel();
    if (event === "release by hand") cells.release();
    if (event === "delete the import") cells.deleteImport();
    if (cells.source === "working" && cells.target === "working") wereBothWorking = true;
  }
  return { cells, wereBothWorking };
}

const events = fc.array(fc.constantFrom(...EVENTS), { maxLength: 40, size: "max" });

test("whatever is killed, repeated, cancelled or run by hand beside it, a workspace never works in both cells", () => {
  fc.assert(
    fc.property(events, (given) => {
      expect(play(given).wereBothWorking).toBe(false);
    }),
    { numRuns: 5_000 },
  );
});

test("after any events, one more run leads to one working cell, once what an earlier move has left is deleted", () => {
  fc.assert(
    fc.property(events, (given) => {
      const { cells } = play(given);
      if (cells.imported !== cells.move || cells.source === "working") cells.deleteImport();
      const run = new Run(cells);
      for (let step = 0; step < 10; step += 1) {
        run.look();
        run.act();
      }
      expect([cells.source, cells.target, cells.isComplete]).toEqual(["moved", "working", true]);
    }),
    { numRuns: 2_000 },
  );
});

test("without the handover secret the same events make both cells work", () => {
  const naive = fc.check(
    fc.property(events, (given) => !play(given, false).wereBothWorking),
    { numRuns: 5_000 },
  );
  expect(naive.failed).toBe(true);
});

test.each<[string, Partial<MoveState>, string]>([
  ["a workspace that is being deleted", { source: "stopped" }, "invalid_transition"],
  ["a workspace that does not exist", { source: "absent" }, "not_found"],
  ["a workspace that the other cell has", { target: "working" }, "already_exists"],
  ["one of which an earlier move has left a part", { target: "importing" }, "already_exists"],
  [
    "a moved one that is being deleted there",
    { source: "moved", target: "stopped" },
    "invalid_transition",
  ],
])("%s is not moved", (_title, state, code) => {
  const given = { source: "working", target: "absent", isQuiet: false, isCopied: false } as const;
  expect(decideMove({ ...given, ...state })).toMatchObject({ kind: "refused", code });
});

test("a workspace that was moved and removed here is done", () => {
  const given = { isQuiet: false, isCopied: false, target: "working" } as const;
  for (const source of ["moved", "absent"] as const)
    expect(decideMove({ ...given, source })).toEqual({ kind: "step", step: "done" });
});
