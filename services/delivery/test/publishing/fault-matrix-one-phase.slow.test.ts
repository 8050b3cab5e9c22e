import { expect, test } from "vitest";
import { KINDS, nameRow } from "./fault-matrix/cases.ts";
import { FAULTS } from "./fault-matrix/faults.ts";
import { onePhase } from "./fault-matrix/one-phase.ts";
import { addAll, runHere } from "./fault-matrix/run.ts";
import { scaled } from "./fault-matrix/scaled.ts";
import { Stage } from "./fault-matrix/stage.ts";

const ROUNDS = 1;

test(
  "Facebook posts that are created and made visible in the same call are published once, whatever fault that call meets",
  { timeout: 300_000 },
  async () => {
    await using stage = await Stage.open();
    const rows = KINDS.filter(
      ({ platform, name }) => platform === "facebook" && ["text", "photo"].includes(name),
    ).flatMap((kind) =>
      kind.steps.filter(({ isVisible }) => isVisible === true).map((step) => ({ kind, step })),
    );
    const faults = FAULTS.filter(({ by }) => by === "simulator" || by === "held");
    const cells = rows.flatMap((row) => faults.map((fault) => ({ row, fault })));
    const judged = await runHere(stage, await addAll(stage, cells, ROUNDS), {
      wrap: (connector, on, sql) => scaled(onePhase(connector, on), on, sql),
    });
    const others = judged
      .filter(({ judgement }) => judgement.result !== "published")
      .map(({ round, judgement }) => [nameRow(round.row), round.fault.name, judgement]);
    expect(others).toEqual([]);
  },
);
