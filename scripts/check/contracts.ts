import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareTrees } from "./compare-trees.ts";
import { type CommandResult, root, runCommand } from "./run-command.ts";

/** Generates the code of the contracts into a temporary folder and compares it with the committed code. */
export async function checkGeneratedCode(): Promise<CommandResult> {
  return inTemporaryFolder(async (folder) => {
    const args = ["generate", "--template", "proto/buf.gen.yaml", "proto", "-o", folder];
    const generated = await runCommand("buf", args);
    if (!generated.ok) return generated;
    const gen = "packages/contracts/gen";
    const differences = compareTrees(join(folder, gen), join(root, gen));
    const advice = 'Run "npm run generate" and commit the result.';
    return differences.length === 0
      ? generated
      : { ok: false, output: [...differences, advice].join("\n") };
  });
}

/**
 * Checks the baseline: the version of the contracts with which changes must be compatible. The baseline has to include
 * every addition, because the check for breaking changes would otherwise not cover it.
 */
export async function checkBaseline(): Promise<CommandResult> {
  return inTemporaryFolder(async (folder) => {
    const image = join(folder, "image.binpb");
    const built = await runCommand("buf", ["build", "proto", "-o", image]);
    if (!built.ok) return built;
    const same = readFileSync(image).equals(readFileSync(join(root, "proto/baseline.binpb")));
    const advice =
      'The contracts differ from their baseline: run "npm run proto:baseline", commit.';
    return same ? built : { ok: false, output: advice };
  });
}

/** Compares the API description with that of the last release; says so if no release is tagged in this clone. */
export async function checkApiChanges(): Promise<CommandResult> {
  const { ok, output } = await runCommand("node", ["scripts/openapi-changes.ts"]);
  return { ok, output, note: ok ? output.trim() : "" };
}

async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "postrider-check-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
